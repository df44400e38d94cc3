#include "ops/layer_norm/layer_norm.h"

#include <ATen/ATen.h>

namespace megadlm::ops {

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  // ATen sums the weight's gradient in the weight's type, where bf16 gets stuck at 256 equal terms.
  const auto wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return at::layer_norm(x.to(wide), {x.size(-1)}, weight.to(wide), bias.to(wide), epsilon)
      .to(x.scalar_type());
}

std::tuple<at::Tensor, at::Tensor> add_layer_norm(const at::Tensor& residual, const at::Tensor& x,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  double epsilon) {
  const at::Tensor sum = residual + x;
  return {layer_norm(sum, weight, bias, epsilon), sum};
}

}  // namespace megadlm::ops
