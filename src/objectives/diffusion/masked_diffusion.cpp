#include "objectives/diffusion/masked_diffusion.h"

#include <ATen/ATen.h>

#include "objectives/visibility.h"

namespace megadlm::objectives {
namespace {

/// The first `length` positions of every row.
data::RowBatch cut(const data::RowBatch& rows, int64_t length) {
  data::RowBatch result = rows;
  for (at::Tensor* part : {&result.tokens, &result.positions, &result.segments, &result.loss_mask}) {
    if (part->defined()) *part = part->slice(1, 0, length);
  }
  return result;
}

/// Moves what stands at position i to i - 1; the last position gets `fill`.
at::Tensor shift_left(const at::Tensor& values, const at::Scalar& fill) {
  at::Tensor result = at::full_like(values, fill);
  result.slice(1, 0, -1).copy_(values.slice(1, 1));
  return result;
}

}  // namespace

MaskedDiffusion::MaskedDiffusion(const config::ObjectiveOptions& options, int64_t mask_token, uint64_t seed)
    : options_(options), noise_(options, seed), mask_token_(mask_token) {}

TrainingExample MaskedDiffusion::make(const data::RowBatch& full_rows) const {
  const data::RowBatch rows = cut(full_rows, noise_.row_length(full_rows.batch, full_rows.tokens.size(1)));
  const bool shifted = options_.model_running_mode == config::RunningMode::diffusion_shifted;
  const Noise noise = noise_.draw(maskable_positions(rows, shifted), rows.sample);
  TrainingExample example;
  example.inputs = rows.tokens.masked_fill(noise.masked, mask_token_);
  example.targets = rows.tokens;
  example.weights = noise.weights;
  if (shifted) {
    example.targets = shift_left(rows.tokens, 0);
    example.weights = shift_left(noise.weights, 0);
  }
  example.positions = rows.positions;
  example.visibility = training_visibility(options_, rows.segments);
  example.tokens = noise.maskable;
  return example;
}

}  // namespace megadlm::objectives
