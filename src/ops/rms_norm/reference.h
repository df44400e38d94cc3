#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops::reference {

/// The plain composition, for every type and device; its gradient is ATen's.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon);

}  // namespace megadlm::ops::reference
