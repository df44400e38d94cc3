#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops {

/// weight[tokens]: tokens [..] i64, weight [V, h] → [.., h].
at::Tensor embedding(const at::Tensor& tokens, const at::Tensor& weight);

}  // namespace megadlm::ops
