#include <ATen/ATen.h>

#include "ops/linear_cross_entropy/linear_cross_entropy.h"

namespace megadlm::ops {

at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                const at::Tensor& weights, int64_t valid_vocab) {
  const at::Tensor logits = at::linear(hidden, weight.slice(0, 0, valid_vocab)).to(at::kFloat);
  return (at::cross_entropy_loss(logits, targets, {}, at::Reduction::None) * weights).sum();
}

}  // namespace megadlm::ops
