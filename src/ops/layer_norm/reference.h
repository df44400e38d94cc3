#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops::reference {

/// ATen's, in fp32 for smaller types: ATen sums the weight's gradient in the weight's type, where bf16 gets
/// stuck at 256 equal terms.
at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon);

}  // namespace megadlm::ops::reference
