#include "evaluation/likelihood/likelihood.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "base/philox.h"
#include "objectives/autoregressive/autoregressive.h"
#include "objectives/masking/noise.h"
#include "objectives/visibility.h"

namespace megadlm::evaluation {
namespace {

/// Sums of weight x cross-entropy by row, in double: hidden [b, s, h], targets [b, s], weights [b, s] double.
at::Tensor row_sums(const models::LanguageModel& model, const at::Tensor& hidden, const at::Tensor& targets,
                    const at::Tensor& weights) {
  const at::Tensor positions = weights.flatten().nonzero().squeeze(1);
  const at::Tensor flat_hidden = hidden.flatten(0, 1), flat_targets = targets.flatten();
  const at::Tensor scored =
      model.losses(flat_hidden.index_select(0, positions), flat_targets.index_select(0, positions));
  at::Tensor losses = at::zeros({weights.numel()}, at::kDouble);
  losses.index_copy_(0, positions, scored.to(at::kDouble));
  return (losses.view(weights.sizes()) * weights).sum(1);
}

/// The columns of a row that are set.
std::vector<int64_t> set_columns(const bool* row, int64_t length) {
  std::vector<int64_t> columns;
  for (int64_t i = 0; i < length; ++i) {
    if (row[i]) columns.push_back(i);
  }
  return columns;
}

/// Chooses `count` of the positions at random: the first `count` of a Fisher-Yates shuffle.
void choose(std::vector<int64_t>& positions, int64_t count, const base::Random& random, uint64_t key) {
  for (int64_t i = 0; i < count; ++i) {
    const auto left = positions.size() - static_cast<size_t>(i);
    std::swap(positions[i],
              positions[i + static_cast<int64_t>(random.below(left, key, static_cast<uint64_t>(i)))]);
  }
}

/// Per-row losses and token counts of one batch.
struct BatchLosses {
  std::vector<double> sums;
  std::vector<int64_t> tokens;
};

BatchLosses autoregressive_losses(const models::LanguageModel& model, const data::RowBatch& rows,
                                  const LikelihoodOptions& options) {
  const auto example = objectives::Autoregressive(options.objective).make(rows);
  const at::Tensor hidden = model.hidden({example.inputs, example.positions, example.visibility, nullptr});
  const at::Tensor sums = row_sums(model, hidden, example.targets, example.weights.to(at::kDouble));
  BatchLosses losses;
  for (int64_t row = 0; row < sums.size(0); ++row) {
    losses.sums.push_back(sums[row].item<double>());
    losses.tokens.push_back(example.weights[row].count_nonzero().item<int64_t>());
  }
  return losses;
}

/// A batch's rows with exactly `count` of their scorable tokens masked, and the weights of the outputs.
struct MaskedRows {
  at::Tensor inputs;   ///< [b, s] i64
  at::Tensor weights;  ///< [b, s] f64: scorable / count at the outputs that predict masked tokens
};

MaskedRows mask_rows(const data::RowBatch& rows, const at::Tensor& scorable, int64_t draw, bool shifted,
                     const LikelihoodOptions& options) {
  const base::Random time(options.seed, base::RandomStream::evaluation_time);
  const base::Random mask(options.seed, base::RandomStream::evaluation_mask);
  const int64_t width = rows.tokens.size(1);
  MaskedRows masked{rows.tokens.clone(at::MemoryFormat::Contiguous),
                    at::zeros(rows.tokens.sizes(), at::kDouble)};
  int64_t* inputs = masked.inputs.mutable_data_ptr<int64_t>();
  double* weights = masked.weights.mutable_data_ptr<double>();
  for (int64_t row = 0; row < rows.tokens.size(0); ++row, inputs += width, weights += width) {
    auto positions = set_columns(scorable.const_data_ptr<bool>() + row * width, width);
    if (positions.empty()) continue;
    const auto sample = static_cast<uint64_t>(rows.sample[row]);
    const auto length = static_cast<double>(positions.size());
    const double shift = time.uniform_double(sample, 0) + static_cast<double>(draw) / options.num_draws;
    const double u = 1 - (shift - std::floor(shift));  // (0, 1]
    const auto count = std::clamp<int64_t>(std::llround(std::ceil(u * length)), 1, positions.size());
    choose(positions, count, mask, sample * static_cast<uint64_t>(options.num_draws) + draw);
    for (int64_t i = 0; i < count; ++i) {
      inputs[positions[i]] = options.mask_token;
      weights[positions[i] - shifted] = length / static_cast<double>(count);
    }
  }
  return masked;
}

BatchLosses diffusion_losses(const models::LanguageModel& model, const data::RowBatch& rows,
                             const LikelihoodOptions& options) {
  const bool shifted = options.objective.model_running_mode == config::RunningMode::diffusion_shifted;
  const at::Tensor counts = objectives::maskable_positions(rows, shifted), tokens = counts.sum(1);
  const auto visibility = objectives::training_visibility(options.objective, rows.segments);
  at::Tensor targets = rows.tokens;
  if (shifted) targets = at::cat({targets.slice(1, 1), targets.slice(1, 0, 1)}, 1);
  at::Tensor sums = at::zeros({rows.tokens.size(0)}, at::kDouble);
  for (int64_t draw = 0; draw < options.num_draws; ++draw) {
    const MaskedRows masked = mask_rows(rows, counts, draw, shifted, options);
    const at::Tensor hidden = model.hidden({masked.inputs, rows.positions, visibility, nullptr});
    sums += row_sums(model, hidden, targets, masked.weights) / options.num_draws;
  }
  BatchLosses losses;
  for (int64_t row = 0; row < sums.size(0); ++row) {
    losses.sums.push_back(sums[row].item<double>());
    losses.tokens.push_back(tokens[row].item<int64_t>());
  }
  return losses;
}

}  // namespace

LikelihoodResult evaluate_likelihood(const models::LanguageModel& model, const data::RowReader& rows,
                                     const LikelihoodOptions& options) {
  const at::NoGradGuard no_gradient;
  base::require(!options.objective.diffusion() || (options.mask_token >= 0 && options.num_draws >= 1),
                "the likelihood of a diffusion model needs a mask token and at least one draw, not {} and {}",
                options.mask_token, options.num_draws);
  LikelihoodResult result;
  std::vector<double> sums;
  std::vector<int64_t> tokens;
  while (const auto batch = rows()) {
    const BatchLosses losses = options.objective.diffusion() ? diffusion_losses(model, *batch, options)
                                                             : autoregressive_losses(model, *batch, options);
    sums.insert(sums.end(), losses.sums.begin(), losses.sums.end());
    tokens.insert(tokens.end(), losses.tokens.begin(), losses.tokens.end());
  }
  result.rows = static_cast<int64_t>(sums.size());
  result.tokens = std::accumulate(tokens.begin(), tokens.end(), int64_t{0});
  base::require(result.tokens > 0, "the evaluation data has no token to score");
  result.nats_per_token = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(result.tokens);
  double squares = 0;  // of each row's deviation: the error of a ratio of sums
  for (size_t i = 0; i < sums.size(); ++i) {
    const double deviation = sums[i] - result.nats_per_token * static_cast<double>(tokens[i]);
    squares += deviation * deviation;
  }
  const auto count = static_cast<double>(result.rows);
  if (result.rows > 1) {
    result.standard_error = std::sqrt(squares * count / (count - 1)) / static_cast<double>(result.tokens);
  }
  return result;
}

double bits_per_byte(double nats_per_token, int64_t tokens, int64_t bytes) {
  return nats_per_token / std::numbers::ln2 * static_cast<double>(tokens) / static_cast<double>(bytes);
}

}  // namespace megadlm::evaluation
