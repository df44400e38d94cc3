#pragma once

#include <ATen/core/Tensor.h>

#include "ops/attention/visibility.h"

namespace megadlm::ops::reference {

/// ATen's scaled-dot-product attention, with a bias of -infinity where pairs do not see each other.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const Visibility& visibility, double scale);

}  // namespace megadlm::ops::reference
