#pragma once

#include "ops/gated_activation/gated_activation.h"

namespace megadlm::ops::reference {

/// The plain composition, for every type and device; its gradient is ATen's.
at::Tensor gated_activation(const at::Tensor& x, GateKind kind);

}  // namespace megadlm::ops::reference
