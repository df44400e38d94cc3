#pragma once

#include "ops/adamw/adamw.h"

namespace megadlm::ops::reference {

/// The plain compositions, for every type and device.
void adamw_step(at::Tensor& master, at::Tensor& exp_avg, at::Tensor& exp_avg_sq, const at::Tensor& gradient,
                at::Tensor* compute_copy, const AdamWStep& step);
double squared_norm(const at::Tensor& gradient);

}  // namespace megadlm::ops::reference
