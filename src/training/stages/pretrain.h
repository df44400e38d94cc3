#pragma once

#include <string>

#include "config/pretrain_options.h"

namespace megadlm::training {

/// Trains as told; the exit code. `config_yaml` is the final configuration, kept beside each checkpoint.
int pretrain(config::PretrainOptions options, const std::string& config_yaml);

}  // namespace megadlm::training
