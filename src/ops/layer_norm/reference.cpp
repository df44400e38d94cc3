#include "ops/layer_norm/reference.h"

#include <ATen/ATen.h>

namespace megadlm::ops::reference {

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  const auto wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return at::layer_norm(x.to(wide), {x.size(-1)}, weight.to(wide), bias.to(wide), epsilon)
      .to(x.scalar_type());
}

}  // namespace megadlm::ops::reference
