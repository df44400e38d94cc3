#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops::reference {

/// The gradient [rows, size] of an embedding's weight: tokens [n] i64, grad_y [n, size]. Sums in fp32, in the
/// order of the positions.
at::Tensor embedding_weight_gradient(const at::Tensor& tokens, const at::Tensor& grad_y, int64_t rows);

}  // namespace megadlm::ops::reference
