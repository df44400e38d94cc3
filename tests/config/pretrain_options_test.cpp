#include "config/pretrain_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace megadlm::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A run that is in order; each test breaks it.
struct PretrainRun : PretrainOptions {
  PretrainRun() {
    model.num_layers = 2;
    model.hidden_size = 64;
    model.num_attention_heads = 4;
    tokenizer.tokenizer_model = "tokenizer.json";
    data.data_path = {"corpus"};
    data.seq_length = 128;
    training.micro_batch_size = 4;
    training.global_batch_size = 8;
    training.train_iters = 1000;
    schedule.lr = 1e-3;
  }

  std::string error() const {
    try {
      validate();
    } catch (const base::Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.what();
    }
    return "no error";
  }
};

TEST(ValidateTest, InOrder) { EXPECT_EQ(PretrainRun().error(), "no error"); }

TEST(ValidateTest, EverythingMissingIsNamedAtOnce) {
  PretrainRun run;
  run.model = {};
  run.tokenizer = {};
  run.data = {};
  run.training = {};
  run.schedule = {};
  run.schedule.lr_decay_style = DecayStyle::constant;
  EXPECT_EQ(
      run.error(),
      "--num-layers, --hidden-size, --num-attention-heads, --seq-length, --data-path (or --mock-data), "
      "--tokenizer-model, --train-iters (or --train-samples, or --exit-duration-in-mins), --lr are missing");
}

TEST(ValidateTest, DryRunNeedsNoFiles) {
  PretrainRun run;
  run.tokenizer = {};
  run.data.data_path.clear();
  run.training.train_iters.reset();
  run.schedule = {};
  run.training.dry_run = true;
  EXPECT_EQ(run.error(), "--tokenizer-model (or --vocab-size) is missing");
  run.tokenizer.vocab_size = 1000;
  EXPECT_EQ(run.error(), "no error");
}

TEST(ValidateTest, ShapeFromAModelFolder) {
  PretrainRun run;
  run.model = {};
  EXPECT_THAT(run.error(), HasSubstr("--num-layers"));
  run.training.init_from = "some/model";
  EXPECT_EQ(run.error(), "no error");
}

TEST(ValidateTest, SeveralProblems) {
  PretrainRun run;
  run.training.micro_batch_size = 3;
  run.precision.bf16 = run.precision.fp16 = true;
  EXPECT_EQ(run.error(),
            "2 problems\n  --micro-batch-size 3 does not divide --global-batch-size 8\n  --bf16 and --fp16: "
            "one of the "
            "two is accepted");
}

TEST(ValidateTest, DataAndTokenizer) {
  PretrainRun run;
  run.data.mock_data = true;
  EXPECT_THAT(run.error(), HasSubstr("--data-path and --mock-data"));
  run = PretrainRun();
  run.tokenizer.tokenizer_type = TokenizerType::null;
  EXPECT_THAT(run.error(), AllOf(HasSubstr("--vocab-size"), HasSubstr("the NullTokenizer has no file")));
  run = PretrainRun();
  run.data.data_path.clear();
  run.data.mock_data = true;
  run.data.valid_data_path = {"held_out"};
  EXPECT_THAT(run.error(), HasSubstr("--valid-data-path needs --data-path"));
}

TEST(ValidateTest, Objective) {
  PretrainRun run;
  run.objective.attention_mask_type = AttentionMaskType::full;
  EXPECT_THAT(run.error(), HasSubstr("--attention-mask-type no_mask"));
  run.objective.model_running_mode = RunningMode::diffusion_unshifted;
  run.objective.difflm_varilen_prob = 0.01;
  EXPECT_EQ(run.error(), "no error");
  run.objective.model_running_mode = RunningMode::autoregressive;
  run.objective.attention_mask_type = AttentionMaskType::causal;
  EXPECT_THAT(run.error(), HasSubstr("--difflm-varilen-prob 0.01 needs"));
}

TEST(ValidateTest, LengthOfTraining) {
  PretrainRun run;
  run.training.train_samples = 100;
  EXPECT_THAT(run.error(), HasSubstr("--train-iters 1000 and --train-samples 100"));
  run.training.train_samples.reset();
  run.training.schedule_by_time = true;
  EXPECT_EQ(run.error(), "--schedule-by-time needs --exit-duration-in-mins");
  run.training.train_iters.reset();
  run.training.exit_duration_in_mins = 5;
  EXPECT_EQ(run.error(), "no error");
  run.training.schedule_by_time = false;
  EXPECT_THAT(run.error(), HasSubstr("--lr-decay-style linear needs a length"));
  run.schedule.lr_decay_style = DecayStyle::constant;
  EXPECT_EQ(run.error(), "no error");
  run.schedule.lr_warmup_fraction = 0.1;
  EXPECT_THAT(run.error(), HasSubstr("--lr-warmup-fraction 0.1 needs a length"));
}

TEST(ValidateTest, ScheduleByTime) {
  PretrainRun run;
  run.training.exit_duration_in_mins = 5;
  run.training.schedule_by_time = true;
  run.schedule.lr_decay_style = DecayStyle::inverse_square_root;
  EXPECT_THAT(run.error(), HasSubstr("inverse-square-root cannot follow the clock"));
  run.schedule.lr_decay_style = DecayStyle::cosine;
  run.schedule.lr_decay_iters = 100;
  EXPECT_THAT(run.error(), HasSubstr("--lr-decay-iters has no effect"));
}

TEST(ValidateTest, Precision) {
  PretrainRun run;
  run.precision.loss_scale = 128;
  EXPECT_EQ(run.error(), "--loss-scale 128 needs --fp16");
  run.precision.fp16 = true;
  run.precision.initial_loss_scale = 0.5;
  EXPECT_EQ(run.error(), "--min-loss-scale 1 is above --initial-loss-scale 0.5");
}

TEST(ValidateTest, Rates) {
  PretrainRun run;
  run.schedule.min_lr = 1e-2;
  EXPECT_EQ(run.error(), "--min-lr 0.01 is above --lr 0.001");
  run.schedule.min_lr = 0;
  run.schedule.lr_warmup_init = 1;
  EXPECT_EQ(run.error(), "--lr-warmup-init 1 is above --lr 0.001");
}

TEST(ValidateTest, UnitsOfTheSchedule) {
  PretrainRun run;
  run.schedule.lr_decay_samples = 8000;
  EXPECT_THAT(run.error(),
              HasSubstr("--lr-decay-samples does not go with --train-iters: count both in iterations"));
  run.training.train_iters.reset();
  run.training.train_samples = 8000;
  EXPECT_EQ(run.error(), "no error");
  run.schedule.lr_warmup_iters = 5;
  EXPECT_THAT(run.error(), HasSubstr("--lr-warmup-iters does not go with --train-samples"));
}

TEST(ValidateTest, Warmup) {
  PretrainRun run;
  run.schedule.lr_warmup_iters = 1000;
  EXPECT_EQ(run.error(), "--lr-warmup-iters 1000 is not below the decay's length of 1000 iters");
  run.schedule.lr_warmup_iters = 10;
  run.schedule.lr_warmup_fraction = 0.1;
  EXPECT_THAT(run.error(), HasSubstr("one of the three"));
}

TEST(ValidateTest, Wsd) {
  PretrainRun run;
  run.schedule.lr_decay_style = DecayStyle::wsd;
  EXPECT_THAT(run.error(), HasSubstr("--lr-decay-style WSD needs --lr-wsd-decay-iters"));
  run.schedule.lr_wsd_decay_iters = 100;
  EXPECT_EQ(run.error(), "no error");
  run.schedule.lr_wsd_decay_iters = 1001;
  EXPECT_EQ(run.error(), "--lr-wsd-decay-iters 1001 is above the decay's length of 1000 iters");
  run.schedule.lr_wsd_decay_iters = 100;
  run.schedule.lr_decay_style = DecayStyle::cosine;
  EXPECT_EQ(run.error(), "--lr-wsd-decay-iters needs --lr-decay-style WSD");
}

TEST(ValidateTest, Checkpoints) {
  PretrainRun run;
  run.checkpoint.save_interval = 10;
  EXPECT_EQ(run.error(), "--save-interval 10 needs --save");
  run.checkpoint.save = "out";
  run.checkpoint.finetune = true;
  EXPECT_EQ(run.error(), "--finetune needs --load");
  run.checkpoint.load = "in";
  EXPECT_EQ(run.error(), "no error");
}

}  // namespace
}  // namespace megadlm::config
