#pragma once

#include <ATen/core/Tensor.h>

#include "ops/recompute.h"

namespace megadlm::ops {

/// y = x W^T (+ b): x [..., in], weight [out, in], bias [out] or undefined, all of one type. With gradients.
/// With `again`, which gives x, x itself is not kept for the backward pass.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {},
                  const Recompute<at::Tensor>& again = {});

}  // namespace megadlm::ops
