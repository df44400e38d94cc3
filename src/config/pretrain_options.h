#pragma once

#include "config/architecture/architecture.h"
#include "config/options/checkpoint.h"
#include "config/options/data.h"
#include "config/options/objective.h"
#include "config/options/optimizer.h"
#include "config/options/tokenizer.h"
#include "config/options/training.h"

namespace megadlm::config {

class Parser;

/// Everything that `megadlm pretrain` is told.
struct PretrainOptions {
  Architecture model;
  TokenizerOptions tokenizer;
  DataOptions data;
  ObjectiveOptions objective;
  TrainingOptions training;
  PrecisionOptions precision;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  CheckpointOptions checkpoint;
  LoggingOptions logging;

  /// Declares every group, and Megatron-LM's options beside them.
  void add_to(Parser& parser);
  /// Checks what no single option can: missing and contradictory options. One Error with exit code 2 names
  /// them all. The model's shape is checked by `resolve`. With --dry-run or --init-checksum, what only a
  /// training run needs (data, length, learning rate) may be missing.
  void validate() const;
};

}  // namespace megadlm::config
