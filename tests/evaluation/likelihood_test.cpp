#include "evaluation/likelihood/likelihood.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "support/tiny_architecture.h"

namespace megadlm::evaluation {
namespace {

constexpr int64_t kVocabulary = 50, kMask = 49;

std::unique_ptr<models::LanguageModel> tiny_model(bool zero_head) {
  config::Architecture architecture = megadlm::testing::tiny_architecture();
  architecture.ffn_hidden_size = 0;  // the default width
  architecture.init_method_std = 0.3;
  auto model = models::make_decoder(config::resolve(architecture, 64, kVocabulary, kVocabulary), 3);
  if (zero_head) {
    const at::NoGradGuard no_gradient;
    model->parameters().back().value.zero_();
  }
  return model;
}

/// Rows of `length` tokens, `batch_size` at a time.
data::RowReader rows_of(int64_t count, int64_t length, int64_t batch_size) {
  return [=, row = int64_t{0}]() mutable -> std::optional<data::RowBatch> {
    if (row == count) return std::nullopt;
    data::RowBatch batch;
    const int64_t rows = std::min(batch_size, count - row);
    for (int64_t i = 0; i < rows; ++i) batch.sample.push_back(row + i);
    batch.tokens = ((at::tensor(batch.sample) * 7).unsqueeze(1) + at::arange(length) * 13).remainder(48);
    row += rows;
    return batch;
  };
}

LikelihoodOptions options_of(config::RunningMode mode, int64_t draws) {
  LikelihoodOptions options;
  options.objective.model_running_mode = mode;
  options.mask_token = kMask;
  options.num_draws = draws;
  return options;
}

TEST(Likelihood, AUniformModelCostsTheLogOfTheVocabulary) {
  const auto model = tiny_model(true);
  for (const int64_t draws : {1, 3}) {
    for (const int64_t batch : {1, 3, 128}) {
      const auto result = evaluate_likelihood(*model, rows_of(5, 8, batch),
                                              options_of(config::RunningMode::diffusion_unshifted, draws));
      EXPECT_NEAR(result.nats_per_token, std::log(50.0), 1e-6);
      EXPECT_NEAR(result.standard_error, 0, 1e-6);
      EXPECT_EQ(result.tokens, 40);
    }
  }
  const auto shifted =
      evaluate_likelihood(*model, rows_of(5, 8, 2), options_of(config::RunningMode::diffusion_shifted, 2));
  EXPECT_NEAR(shifted.nats_per_token, std::log(50.0), 1e-6);
  EXPECT_EQ(shifted.tokens, 35);
  const auto exact =
      evaluate_likelihood(*model, rows_of(5, 9, 2), options_of(config::RunningMode::autoregressive, 1));
  EXPECT_NEAR(exact.nats_per_token, std::log(50.0), 1e-6);
  EXPECT_EQ(exact.tokens, 40);
}

TEST(Likelihood, DoesNotDependOnTheBatch) {
  const auto model = tiny_model(false);
  for (const auto mode : {config::RunningMode::diffusion_unshifted, config::RunningMode::diffusion_shifted}) {
    const auto one = evaluate_likelihood(*model, rows_of(7, 12, 1), options_of(mode, 3));
    const auto three = evaluate_likelihood(*model, rows_of(7, 12, 3), options_of(mode, 3));
    EXPECT_NEAR(one.nats_per_token, three.nats_per_token, 1e-5);
    EXPECT_NEAR(one.standard_error, three.standard_error, 1e-5);
    EXPECT_GT(one.standard_error, 0);
  }
}

/// A row's cost under one set of masks: length / masks x the sum of cross-entropies.
double cost_of(const models::LanguageModel& model, const at::Tensor& tokens,
               const std::vector<int64_t>& masked) {
  at::Tensor inputs = tokens.clone();
  for (const int64_t i : masked) inputs[0][i] = kMask;
  const at::Tensor logs = at::log_softmax(model.logits(model.hidden({inputs, {}, {}, nullptr})[0]), 1);
  double sum = 0;
  for (const int64_t i : masked) sum -= logs[i][tokens[0][i].item<int64_t>()].item<double>();
  return sum * static_cast<double>(tokens.numel()) / static_cast<double>(masked.size());
}

/// One row under `count` sample numbers, that is with independent noise.
data::RowReader repeated(const at::Tensor& tokens, int64_t count) {
  return [=, row = int64_t{0}]() mutable -> std::optional<data::RowBatch> {
    if (row >= count) return std::nullopt;
    data::RowBatch batch;
    for (int64_t i = 0; i < 500; ++i) batch.sample.push_back(row++);
    batch.tokens = tokens.expand({500, tokens.size(1)}).contiguous();
    return batch;
  };
}

TEST(Likelihood, IsUnbiasedForTheAverageOverAllMasks) {
  const auto model = tiny_model(false);
  const at::NoGradGuard no_gradient;
  const at::Tensor tokens = at::tensor({5, 21, 30}, at::kLong).view({1, 3});
  const auto cost = [&](std::vector<int64_t> masked) { return cost_of(*model, tokens, masked); };
  const double exact = ((cost({0}) + cost({1}) + cost({2})) / 3 +
                        (cost({0, 1}) + cost({0, 2}) + cost({1, 2})) / 3 + cost({0, 1, 2})) /
                       3;
  double errors[2] = {};
  const int64_t draws[2] = {1, 4};
  for (int64_t i = 0; i < 2; ++i) {
    const auto result = evaluate_likelihood(*model, repeated(tokens, 1000),
                                            options_of(config::RunningMode::diffusion_unshifted, draws[i]));
    EXPECT_NEAR(result.nats_per_token * 3, exact, 3 * result.standard_error * 3 + 1e-9) << draws[i];
    errors[i] = result.standard_error;
  }
  EXPECT_GT(errors[1], 0);
  EXPECT_LT(errors[1], errors[0] / 1.5);
}

/// Passes on what it is asked, and keeps how many masks each row had.
class CountingModel : public models::LanguageModel {
 public:
  explicit CountingModel(std::unique_ptr<models::LanguageModel> model) : model_(std::move(model)) {}
  const config::Architecture& architecture() const override { return model_->architecture(); }
  std::vector<nn::Parameter>& parameters() override { return model_->parameters(); }
  void to(at::Device device) override { model_->to(device); }
  at::Tensor hidden(const models::ModelInput& input) const override {
    counts.push_back(input.tokens.eq(kMask).sum(1));
    return model_->hidden(input);
  }
  at::Tensor logits(const at::Tensor& hidden) const override { return model_->logits(hidden); }
  at::Tensor loss(const at::Tensor& hidden, const at::Tensor& targets,
                  const at::Tensor& weights) const override {
    return model_->loss(hidden, targets, weights);
  }
  at::Tensor losses(const at::Tensor& hidden, const at::Tensor& targets) const override {
    return model_->losses(hidden, targets);
  }

  mutable std::vector<at::Tensor> counts;  ///< [b] i64 a forward pass

 private:
  std::unique_ptr<models::LanguageModel> model_;
};

TEST(Likelihood, TheDrawsOfARowMaskEvenlySpreadCounts) {
  const CountingModel model(tiny_model(true));
  evaluate_likelihood(model, rows_of(6, 8, 6), options_of(config::RunningMode::diffusion_unshifted, 8));
  const at::Tensor counts = std::get<0>(at::stack(model.counts, 1).sort(1));
  EXPECT_TRUE(counts.equal(at::arange(1, 9).expand({6, 8}))) << counts;
}

TEST(Likelihood, OneTokenCostsItsCrossEntropy) {
  const auto model = tiny_model(false);
  const at::NoGradGuard no_gradient;
  const at::Tensor tokens = at::tensor({7}, at::kLong).view({1, 1});
  const auto result = evaluate_likelihood(*model, repeated(tokens, 500),
                                          options_of(config::RunningMode::diffusion_unshifted, 2));
  EXPECT_NEAR(result.nats_per_token, cost_of(*model, tokens, {0}), 1e-5);
}

TEST(Likelihood, TokensOutsideTheLossMaskAreNeverMaskedNorScored) {
  const auto model = tiny_model(false);
  const at::NoGradGuard no_gradient;
  const at::Tensor tokens = at::tensor({5, 21, 30}, at::kLong).view({1, 3});
  for (const auto mode : {config::RunningMode::diffusion_unshifted, config::RunningMode::diffusion_shifted}) {
    const auto reader = [&, done = false]() mutable -> std::optional<data::RowBatch> {
      if (done) return std::nullopt;
      done = true;
      data::RowBatch batch;
      batch.sample = {0};
      batch.tokens = tokens;
      batch.loss_mask = at::tensor({0.0f, 1.0f, 0.0f}).view({1, 3});
      return batch;
    };
    const auto result = evaluate_likelihood(*model, reader, options_of(mode, 3));
    at::Tensor inputs = tokens.clone();
    inputs[0][1] = kMask;
    const at::Tensor logits = model->logits(model->hidden({inputs, {}, {}, nullptr})[0]);
    const int64_t output = mode == config::RunningMode::diffusion_shifted ? 0 : 1;
    EXPECT_NEAR(result.nats_per_token, -at::log_softmax(logits, 1)[output][21].item<double>(), 1e-5);
    EXPECT_EQ(result.tokens, 1);
  }
}

TEST(Likelihood, DiffusionNeedsAMaskToken) {
  auto options = options_of(config::RunningMode::diffusion_unshifted, 1);
  options.mask_token = -1;
  EXPECT_THROW(evaluate_likelihood(*tiny_model(true), rows_of(1, 4, 1), options), base::Error);
}

TEST(Likelihood, AutoregressiveIsTheChainRule) {
  const auto model = tiny_model(false);
  const at::NoGradGuard no_gradient;
  const auto reader = rows_of(3, 10, 3);
  const auto rows = *rows_of(3, 10, 3)();
  ops::Visibility causal;
  causal.kind = ops::Visibility::Kind::causal;
  const at::Tensor logs = at::log_softmax(
      model->logits(model->hidden({rows.tokens.slice(1, 0, 9), {}, causal, nullptr}).flatten(0, 1)), 1);
  const double expected = -logs.gather(1, rows.tokens.slice(1, 1).reshape({-1, 1})).mean().item<double>();
  EXPECT_NEAR(
      evaluate_likelihood(*model, reader, options_of(config::RunningMode::autoregressive, 1)).nats_per_token,
      expected, 1e-5);
}

TEST(Likelihood, NoTokenIsAnError) {
  const auto model = tiny_model(true);
  EXPECT_THROW(
      evaluate_likelihood(*model, rows_of(0, 4, 1), options_of(config::RunningMode::diffusion_unshifted, 1)),
      base::Error);
}

TEST(BitsPerByte, Converts) { EXPECT_NEAR(bits_per_byte(std::log(2.0), 30, 60), 0.5, 1e-12); }

}  // namespace
}  // namespace megadlm::evaluation
