#include "training/loop/train_step.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "precision/mixed/types.h"
#include "support/tiny_architecture.h"

namespace megadlm::training {
namespace {

config::Architecture tiny() { return config::resolve(megadlm::testing::tiny_architecture(), 16, 50, 50); }

/// Everything that a run of steps needs, from one seed.
struct Trainer {
  explicit Trainer(config::RunningMode mode, config::PrecisionOptions precision_options = {})
      : model(models::make_decoder(tiny(), 1)),
        objective([&] {
          config::ObjectiveOptions options;
          options.model_running_mode = mode;
          return objectives::make_objective(options, 49, 1);
        }()),
        optimizer(model->parameters(), {}, precision::compute_type(precision_options.precision())),
        scaler(precision_options),
        step(*model, *objective, optimizer, scaler) {}

  std::vector<data::RowBatch> batch(int64_t number, int64_t micro_batches) const {
    const int64_t rows = 8 / micro_batches, length = 16 + objective->extra_tokens();
    std::vector<data::RowBatch> batches;
    for (int64_t i = 0; i < micro_batches; ++i) {
      data::RowBatch batch;
      batch.batch = number;
      batch.sample.resize(rows);
      std::iota(batch.sample.begin(), batch.sample.end(), number * 8 + i * rows);
      batch.tokens = (at::tensor(batch.sample).unsqueeze(1) * 7 + at::arange(length)).remainder(48);
      batches.push_back(batch);
    }
    return batches;
  }

  std::vector<double> losses(int64_t steps, int64_t micro_batches) {
    std::vector<double> result;
    for (int64_t i = 0; i < steps; ++i) result.push_back(step.run(batch(i, micro_batches), 2e-3).loss);
    return result;
  }

  std::unique_ptr<models::LanguageModel> model;
  std::unique_ptr<objectives::Objective> objective;
  optim::AdamW optimizer;
  precision::LossScaler scaler;
  TrainStep step;
};

TEST(TrainStep, AccumulationGivesTheSameLosses) {
  for (const auto mode : {config::RunningMode::diffusion_unshifted, config::RunningMode::diffusion_shifted,
                          config::RunningMode::autoregressive}) {
    const auto whole = Trainer(mode).losses(20, 1);
    for (const int64_t micro_batches : {2, 8}) {
      const auto parts = Trainer(mode).losses(20, micro_batches);
      for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(parts[i] / whole[i], 1, 1e-5) << "step " << i;
    }
    EXPECT_LT(whole.back(), whole.front());
  }
}

TEST(TrainStep, RepeatsBitForBit) {
  EXPECT_EQ(Trainer(config::RunningMode::diffusion_unshifted).losses(5, 2),
            Trainer(config::RunningMode::diffusion_unshifted).losses(5, 2));
}

TEST(TrainStep, Bf16AndFp16FollowFp32) {
  config::PrecisionOptions bf16, fp16;
  bf16.bf16 = true;
  fp16.fp16 = true;
  fp16.initial_loss_scale = 1024;
  const auto exact = Trainer(config::RunningMode::autoregressive).losses(10, 1);
  for (const auto& [options, tolerance] : {std::pair{bf16, 0.03}, std::pair{fp16, 0.004}}) {
    const auto rounded = Trainer(config::RunningMode::autoregressive, options).losses(10, 1);
    for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(rounded[i], exact[i], tolerance * exact[i]);
  }
}

TEST(TrainStep, NonFiniteStepsLeaveEverythingAsItWas) {
  Trainer run(config::RunningMode::diffusion_unshifted);
  run.losses(2, 1);
  std::vector<at::Tensor> before;
  for (const auto& [name, tensor] : run.optimizer.states()) before.push_back(tensor.clone());
  at::Tensor weight = run.model->parameters()[3].value;
  const at::Tensor saved = weight.detach().clone();
  {
    const at::NoGradGuard no_gradient;
    weight[0][0] = std::numeric_limits<float>::infinity();
  }
  const StepResult result = run.step.run(run.batch(2, 1), 1e-2);
  ASSERT_TRUE(result.non_finite.has_value());
  EXPECT_NE(result.non_finite->find("samples 16, 17"), std::string::npos) << *result.non_finite;
  {
    const at::NoGradGuard no_gradient;
    weight.copy_(saved);
  }
  size_t i = 0;
  for (const auto& [name, tensor] : run.optimizer.states()) EXPECT_TRUE(tensor.equal(before[i++])) << name;
  EXPECT_EQ(run.optimizer.steps(), 2);
  EXPECT_FALSE(run.step.run(run.batch(3, 1), 1e-2).non_finite.has_value());
}

TEST(TrainStep, Fp16OverflowHalvesTheScaleAndSkips) {
  config::PrecisionOptions fp16;
  fp16.fp16 = true;
  fp16.initial_loss_scale = 1e38;
  fp16.hysteresis = 1;
  Trainer run(config::RunningMode::diffusion_unshifted, fp16);
  const StepResult result = run.step.run(run.batch(0, 1), 1e-2);
  EXPECT_TRUE(result.non_finite.has_value());
  EXPECT_TRUE(result.overflow);
  EXPECT_DOUBLE_EQ(run.scaler.scale(), 5e37);
}

TEST(TrainStep, ABatchWithoutTargetsDoesNoHarm) {
  Trainer run(config::RunningMode::diffusion_unshifted);
  auto batch = run.batch(0, 1);
  batch[0].loss_mask = at::zeros({8, 16});
  const StepResult result = run.step.run(batch, 1e-2);
  EXPECT_EQ(result.loss, 0);
  EXPECT_FALSE(result.non_finite.has_value());
  EXPECT_EQ(result.head_tokens, 0);
}

}  // namespace
}  // namespace megadlm::training
