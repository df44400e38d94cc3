#pragma once

#include "config/options/objective.h"
#include "ops/attention/visibility.h"

namespace megadlm::objectives {

/// Who sees whom: the option's mask, or the objective's own where it says auto (AR: causal; diffusion: full),
/// within `segments` ([b, s] i64 or undefined).
ops::Visibility training_visibility(const config::ObjectiveOptions& options, const at::Tensor& segments = {});

}  // namespace megadlm::objectives
