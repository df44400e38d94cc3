#pragma once

#include <string>

#include "planner/memory/memory.h"

namespace megadlm::planner {

/// What `pretrain --dry-run` prints: parameters by part, FLOPs of a step, memory by part beside the
/// machine's, and the configuration. `head_fraction`: share of positions that the output layer runs on (1 for
/// AR, one half for masked diffusion).
std::string dry_run_report(const config::Architecture& architecture, const TrainingShape& shape,
                           double head_fraction, uint64_t machine_bytes, const std::string& config_yaml);

}  // namespace megadlm::planner
