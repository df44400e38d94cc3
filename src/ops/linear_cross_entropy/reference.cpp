#include "ops/linear_cross_entropy/reference.h"

#include <ATen/ATen.h>

#include "ops/linear/linear.h"

namespace megadlm::ops::reference {

at::Tensor linear_cross_entropy_rows(const at::Tensor& hidden, const at::Tensor& weight,
                                     const at::Tensor& targets, int64_t valid_vocab) {
  at::Tensor logits = ops::linear(hidden, weight.slice(0, 0, valid_vocab));
  if (logits.scalar_type() != at::kDouble) logits = logits.to(at::kFloat);
  return at::cross_entropy_loss(logits, targets, {}, at::Reduction::None);
}

at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                const at::Tensor& weights, int64_t valid_vocab) {
  return (linear_cross_entropy_rows(hidden, weight, targets, valid_vocab) * weights).sum();
}

}  // namespace megadlm::ops::reference
