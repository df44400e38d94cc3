#include "nn/head/loss_head.h"

#include <ATen/ATen.h>

#include "ops/linear_cross_entropy/linear_cross_entropy.h"

namespace megadlm::nn {

at::Tensor weighted_loss(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                         const at::Tensor& weights, int64_t valid_vocab_size) {
  const at::Tensor flat_weights = weights.reshape({-1});
  const at::Tensor flat_hidden = hidden.reshape({-1, hidden.size(-1)});
  const at::Tensor flat_targets = targets.reshape({-1});
  const at::Tensor rows = flat_weights.nonzero().squeeze(1);
  if (rows.numel() == flat_weights.numel()) {
    return ops::linear_cross_entropy(flat_hidden, weight, flat_targets, flat_weights, valid_vocab_size);
  }
  return ops::linear_cross_entropy(flat_hidden.index_select(0, rows), weight,
                                   flat_targets.index_select(0, rows), flat_weights.index_select(0, rows),
                                   valid_vocab_size);
}

}  // namespace megadlm::nn
