#include "ops/embedding/reference.h"

#include <ATen/ATen.h>

namespace megadlm::ops::reference {

at::Tensor embedding_weight_gradient(const at::Tensor& tokens, const at::Tensor& grad_y, int64_t rows) {
  const auto [present, places] = at::_unique(tokens, true, true);
  const auto wide = grad_y.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  at::Tensor sums = at::zeros({present.numel(), grad_y.size(1)}, grad_y.options().dtype(wide));
  sums.index_add_(0, places.reshape({-1}), grad_y.to(wide));
  at::Tensor result = at::zeros({rows, grad_y.size(1)}, grad_y.options());
  result.index_copy_(0, present, sums.to(grad_y.scalar_type()));
  return result;
}

}  // namespace megadlm::ops::reference
