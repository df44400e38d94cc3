#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops {

enum class GateKind { silu, gelu };

/// x [.., 2f] → [.., f]: activation(first half) * second half (Shazeer, "GLU variants", 2020); exact gelu.
at::Tensor gated_activation(const at::Tensor& x, GateKind kind);

}  // namespace megadlm::ops
