#pragma once

#include "ops/qkv_rotary/qkv_rotary.h"

namespace megadlm::ops::reference {

/// The plain composition, for every type and device; its gradient is ATen's.
QueryKeyValue qkv_rotary(const at::Tensor& qkv, const QkvRotary& options);

}  // namespace megadlm::ops::reference
