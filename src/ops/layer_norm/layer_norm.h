#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace megadlm::ops {

/// Layer normalisation over the last dim with weight and bias, fp32 inside (Ba et al., 2016).
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon);

/// (layer_norm(residual + x), residual + x).
std::tuple<at::Tensor, at::Tensor> add_layer_norm(const at::Tensor& residual, const at::Tensor& x,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  double epsilon);

}  // namespace megadlm::ops
