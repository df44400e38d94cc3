#include "ops/layer_norm/layer_norm.h"

#include <ATen/ATen.h>

namespace megadlm::ops {

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
}

std::tuple<at::Tensor, at::Tensor> add_layer_norm(const at::Tensor& residual, const at::Tensor& x,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  double epsilon) {
  const at::Tensor sum = residual + x;
  return {layer_norm(sum, weight, bias, epsilon), sum};
}

}  // namespace megadlm::ops
