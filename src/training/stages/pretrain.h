#pragma once

#include "config/architecture/architecture.h"
#include "config/options/checkpoint.h"
#include "config/options/data.h"
#include "config/options/objective.h"
#include "config/options/optimizer.h"
#include "config/options/tokenizer.h"
#include "config/options/training.h"
#include "config/parser.h"

namespace megadlm::training {

/// Everything that `megadlm pretrain` is told.
struct PretrainOptions {
  config::Architecture model;
  config::TokenizerOptions tokenizer;
  config::DataOptions data;
  config::ObjectiveOptions objective;
  config::TrainingOptions training;
  config::PrecisionOptions precision;
  config::OptimizerOptions optimizer;
  config::ScheduleOptions schedule;
  config::CheckpointOptions checkpoint;
  config::LoggingOptions logging;

  void add_to(config::Parser& parser);
};

/// Trains as told; the exit code. `config_yaml` is the final configuration, kept beside each checkpoint.
int pretrain(PretrainOptions options, const std::string& config_yaml);

}  // namespace megadlm::training
