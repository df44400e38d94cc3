#pragma once

#include "config/architecture/architecture.h"
#include "config/options/checkpoint.h"
#include "config/options/data.h"
#include "config/options/objective.h"
#include "config/options/optimizer.h"
#include "config/options/tokenizer.h"
#include "config/options/training.h"
#include "config/parser.h"
#include "config/validate.h"

namespace megadlm::config {

/// The groups of `megadlm pretrain`.
struct PretrainOptionGroups {
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

  void add_to(Parser& parser) {
    parser.add(model);
    parser.add(tokenizer);
    parser.add(data);
    parser.add(objective);
    parser.add(training);
    parser.add(precision);
    parser.add(optimizer);
    parser.add(schedule);
    parser.add(checkpoint);
    parser.add(logging);
    parser.accept_megatron_options();
  }
  void validate() const {
    validate_pretrain({model, tokenizer, data, objective, training, precision, schedule, checkpoint});
  }
};

}  // namespace megadlm::config
