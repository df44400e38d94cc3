#pragma once

#include "config/architecture/architecture.h"
#include "config/options/checkpoint.h"
#include "config/options/data.h"
#include "config/options/objective.h"
#include "config/options/optimizer.h"
#include "config/options/tokenizer.h"
#include "config/options/training.h"

namespace megadlm::config {

/// The option groups of a pre-training run.
struct PretrainGroups {
  const Architecture& model;
  const TokenizerOptions& tokenizer;
  const DataOptions& data;
  const ObjectiveOptions& objective;
  const TrainingOptions& training;
  const PrecisionOptions& precision;
  const ScheduleOptions& schedule;
  const CheckpointOptions& checkpoint;
};

/// Checks what no single option can: missing and contradictory options. One Error with exit code 2 names them
/// all. The model's shape is checked by `resolve`. With --dry-run or --init-checksum, what only a training
/// run needs (data, length, learning rate) may be missing.
void validate_pretrain(const PretrainGroups& groups);

}  // namespace megadlm::config
