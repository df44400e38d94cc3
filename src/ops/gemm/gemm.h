#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops {

/// left [m, k] x right [k, n] (+ bias [n]), without gradient, in the type of both; either factor may be a
/// transposed view. The one place that chooses how matrix products are computed: bf16 by ATen, fp32 on a
/// processor by our kernels where they are faster. fp16 on a processor runs in fp32 and is rounded once at
/// the end; that is said once.
at::Tensor matrix_product(const at::Tensor& left, const at::Tensor& right, const at::Tensor& bias = {});

/// The same into a contiguous `result` [m, n].
void matrix_product_into(at::Tensor result, const at::Tensor& left, const at::Tensor& right);

/// The same by our own kernels, fp32 or bf16 on a processor, whatever is faster.
at::Tensor kernel_product(const at::Tensor& left, const at::Tensor& right, const at::Tensor& bias = {});

}  // namespace megadlm::ops
