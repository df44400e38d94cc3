#include "objectives/objective.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace megadlm::objectives {
namespace {

constexpr int64_t kMask = 49;

config::ObjectiveOptions options_of(config::RunningMode mode) {
  config::ObjectiveOptions options;
  options.model_running_mode = mode;
  return options;
}

data::RowBatch rows_of(int64_t rows, int64_t length) {
  data::RowBatch batch;
  batch.tokens = at::arange(rows * length).remainder(40).view({rows, length});
  for (int64_t i = 0; i < rows; ++i) batch.sample.push_back(100 + i);
  return batch;
}

TEST(Objective, UnshiftedScoresMaskedTokensInPlace) {
  const auto objective = make_objective(options_of(config::RunningMode::diffusion_unshifted), kMask, 1);
  const auto rows = rows_of(4, 16);
  const TrainingExample example = objective->make(rows);
  const at::Tensor masked = example.inputs.eq(kMask);
  EXPECT_TRUE(masked.equal(example.weights.ne(0)));
  EXPECT_TRUE(example.targets.equal(rows.tokens));
  EXPECT_TRUE(at::where(masked, rows.tokens, example.inputs).equal(rows.tokens));
  EXPECT_EQ(example.visibility.kind, ops::Visibility::Kind::full);
  EXPECT_EQ(example.tokens, 64);
}

TEST(Objective, ShiftedScoresTheNextPositionAndKeepsTheFirstToken) {
  const auto objective = make_objective(options_of(config::RunningMode::diffusion_shifted), kMask, 1);
  const auto rows = rows_of(50, 9);
  const TrainingExample example = objective->make(rows);
  EXPECT_TRUE(example.inputs.select(1, 0).equal(rows.tokens.select(1, 0)));
  EXPECT_TRUE(example.inputs.slice(1, 1).eq(kMask).equal(example.weights.slice(1, 0, -1).ne(0)));
  EXPECT_TRUE(example.targets.slice(1, 0, -1).equal(rows.tokens.slice(1, 1)));
  EXPECT_EQ(example.weights.select(1, -1).abs().sum().item<float>(), 0);
  EXPECT_EQ(example.tokens, 50 * 8);
}

TEST(Objective, ShiftedKeepsTheFirstTokenOfEachDocument) {
  const auto objective = make_objective(options_of(config::RunningMode::diffusion_shifted), kMask, 1);
  auto rows = rows_of(50, 8);
  rows.segments = at::tensor({0, 0, 0, 1, 1, 1, 1, 2}).expand({50, 8}).contiguous();
  const TrainingExample example = objective->make(rows);
  for (const int64_t position : {0, 3, 7}) {
    EXPECT_TRUE(example.inputs.select(1, position).equal(rows.tokens.select(1, position))) << position;
  }
  EXPECT_EQ(example.tokens, 50 * 5);
}

TEST(Objective, AutoregressiveScoresTheNextToken) {
  const auto objective = make_objective(options_of(config::RunningMode::autoregressive), -1, 1);
  EXPECT_EQ(objective->extra_tokens(), 1);
  const auto rows = rows_of(3, 9);
  const TrainingExample example = objective->make(rows);
  EXPECT_TRUE(example.inputs.equal(rows.tokens.slice(1, 0, 8)));
  EXPECT_TRUE(example.targets.equal(rows.tokens.slice(1, 1)));
  EXPECT_EQ(example.tokens, 24);
  EXPECT_EQ(example.visibility.kind, ops::Visibility::Kind::causal);
}

TEST(Objective, CutRowsKeepWhatBelongsToThem) {
  auto options = options_of(config::RunningMode::diffusion_unshifted);
  options.difflm_varilen_prob = 1;
  const auto objective = make_objective(options, kMask, 1);
  auto rows = rows_of(4, 32);
  rows.loss_mask = at::ones({4, 32});
  bool shorter = false;
  for (rows.batch = 0; rows.batch < 20; ++rows.batch) {
    const TrainingExample example = objective->make(rows);
    const int64_t length = example.inputs.size(1);
    EXPECT_GE(length, 2);
    EXPECT_EQ(example.tokens, 4.0 * length);
    EXPECT_NEAR(example.weights.sum().item<double>(), 4.0 * length, 1e-3);
    shorter = shorter || length < 32;
  }
  EXPECT_TRUE(shorter);
}

TEST(Objective, ABatchWithoutTargetsHasFiniteWeights) {
  const auto objective = make_objective(options_of(config::RunningMode::diffusion_unshifted), kMask, 1);
  auto rows = rows_of(2, 8);
  rows.loss_mask = at::zeros({2, 8});
  const TrainingExample example = objective->make(rows);
  EXPECT_EQ(example.tokens, 0);
  EXPECT_EQ(example.weights.abs().sum().item<float>(), 0);
  EXPECT_TRUE(example.inputs.equal(rows.tokens));
}

TEST(Objective, DiffusionNeedsAMaskToken) {
  EXPECT_THROW(make_objective(options_of(config::RunningMode::diffusion_unshifted), -1, 1), base::Error);
}

}  // namespace
}  // namespace megadlm::objectives
