#include "training/loop/loop.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "precision/mixed/types.h"

namespace megadlm::training {
namespace {

constexpr int64_t kBatch = 4;

/// A tiny run whose weights are spoilt before the batches of `bad` and mended after them.
struct TinyRun {
  TinyRun() {
    architecture.num_layers = 1;
    architecture.hidden_size = 16;
    architecture.num_attention_heads = 2;
    architecture.position_embedding_type = config::PositionEmbedding::rope;
    architecture.normalization = config::Normalization::rms_norm;
    architecture.swiglu = true;
    architecture.disable_bias_linear = true;
    model = models::make_decoder(config::resolve(architecture, 8, 20, 20), 1);
    config::ObjectiveOptions options;
    options.model_running_mode = config::RunningMode::diffusion_unshifted;
    objective = objectives::make_objective(options, 19, 1);
    training.micro_batch_size = training.global_batch_size = kBatch;
    training.train_iters = 6;
    training.on_non_finite = config::OnNonFinite::skip;
    logging.log_interval = 1;
    schedule_options.lr = 1e-3;
  }

  void run(const std::vector<int64_t>& bad) {
    optim::AdamW optimizer(model->parameters(), {}, precision::compute_type(precision.precision()));
    precision::LossScaler scaler(precision);
    TrainStep step(*model, *objective, optimizer, scaler);
    const optim::LearningRateSchedule schedule(schedule_options, kBatch, 6 * kBatch);
    at::Tensor weight = model->parameters()[0].value;
    const float good = weight[0][0].item<float>();
    LoopHooks hooks;
    hooks.rows = [&](const std::vector<int64_t>& samples, int64_t batch) {
      const at::NoGradGuard no_gradient;
      const bool spoil = std::find(bad.begin(), bad.end(), batch) != bad.end();
      weight.fill_(spoil ? std::numeric_limits<float>::infinity() : good);
      data::RowBatch rows;
      rows.batch = batch;
      rows.sample = samples;
      rows.tokens = (at::tensor(samples).unsqueeze(1) + at::arange(8)).remainder(18);
      return rows;
    };
    hooks.log = [&](const StepMetrics& metrics) { rates.push_back(metrics.learning_rate); };
    SpeedModel speed;
    speed.step_flops = [](int64_t, int64_t) { return 1.0; };
    TrainingLoop(step, schedule, training, {}, logging, speed, hooks, state).run();
  }

  config::Architecture architecture;
  std::unique_ptr<models::LanguageModel> model;
  std::unique_ptr<objectives::Objective> objective;
  config::TrainingOptions training;
  config::PrecisionOptions precision;
  config::LoggingOptions logging;
  config::ScheduleOptions schedule_options;
  TrainingState state;
  std::vector<double> rates;
};

TEST(TrainingLoop, ASkippedStepLeavesTheScheduleWhereItWas) {
  TinyRun run;
  run.run({2});
  const optim::LearningRateSchedule schedule(run.schedule_options, kBatch, 6 * kBatch);
  std::vector<double> expected;
  for (const int64_t steps : {0, 1, 2, 2, 3, 4}) expected.push_back(schedule.rate(steps * kBatch));
  EXPECT_EQ(run.rates, expected);
  EXPECT_EQ(run.state.skipped_iterations, 1);
  EXPECT_EQ(run.state.iteration, 6);
  EXPECT_EQ(run.state.consumed_samples, 6 * kBatch);
}

TEST(TrainingLoop, StopsAtTheFirstOrAfterTooManyBadSteps) {
  TinyRun stopping;
  stopping.training.on_non_finite = config::OnNonFinite::stop;
  EXPECT_THROW(stopping.run({2}), base::Error);
  EXPECT_EQ(stopping.state.iteration, 2);
  TinyRun patient;
  patient.training.max_consecutive_skips = 3;
  EXPECT_THROW(patient.run({1, 2, 3, 4}), base::Error);
  EXPECT_EQ(patient.state.iteration, 3);
}

TEST(TrainingLoop, Fp16OverflowsAreSkippedWhileTheLossScaleCanFall) {
  TinyRun run;
  run.precision.fp16 = true;
  run.precision.initial_loss_scale = 0x1p40;
  run.training.on_non_finite = config::OnNonFinite::stop;
  run.training.train_iters = 40;
  run.run({});
  EXPECT_GT(run.state.skipped_iterations, run.training.max_consecutive_skips);
  EXPECT_LT(run.state.skipped_iterations, 35);
  TinyRun lowest;
  lowest.precision = run.precision;
  lowest.precision.min_loss_scale = 0x1p40;
  lowest.training.on_non_finite = config::OnNonFinite::stop;
  EXPECT_THROW(lowest.run({}), base::Error);
}

TEST(TrainingLoop, EndsWhereItIsToldTo) {
  TinyRun run;
  run.training.exit_interval = 4;
  run.run({});
  EXPECT_EQ(run.state.iteration, 4);
  run.training.train_iters = 20;
  run.run({});  // goes on from there, to the next multiple
  EXPECT_EQ(run.state.iteration, 8);
  TinyRun samples;
  samples.training.train_iters.reset();
  samples.training.train_samples = 9;
  samples.run({});
  EXPECT_EQ(samples.state.iteration, 3);
}

}  // namespace
}  // namespace megadlm::training
