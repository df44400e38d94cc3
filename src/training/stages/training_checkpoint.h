#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "checkpoint/native/native.h"
#include "models/language_model.h"
#include "optim/adamw/adamw.h"
#include "precision/mixed/loss_scaler.h"
#include "training/loop/loop.h"

namespace megadlm::training {

/// A run's parts that change from step to step, as a checkpoint holds them.
struct TrainingParts {
  models::LanguageModel& model;
  optim::AdamW& optimizer;
  precision::LossScaler& scaler;
  TrainingState& state;
};

/// Everything to continue exactly: masters, moments, counters. `description` is added to the state (what the
/// weights need to be used: objective, sequence length, vocabulary, precision).
checkpoint::Snapshot take_snapshot(const TrainingParts& parts, bool with_optimizer,
                                   const nlohmann::json& description, const std::string& config_yaml,
                                   const std::map<std::string, std::string>& files);

/// Puts a checkpoint's weights, and with `with_progress` its moments and counters too, into the parts. Names
/// the folder and the first tensor that is missing, superfluous or of another shape.
void restore_snapshot(const std::filesystem::path& folder, bool with_optimizer, bool with_progress,
                      const TrainingParts& parts);

}  // namespace megadlm::training
