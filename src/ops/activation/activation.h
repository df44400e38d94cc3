#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops {

/// x Phi(x), exact (Hendrycks and Gimpel, 2016).
at::Tensor gelu(const at::Tensor& x);
/// max(x, 0)^2 (So et al., "Primer", 2021).
at::Tensor squared_relu(const at::Tensor& x);

}  // namespace megadlm::ops
