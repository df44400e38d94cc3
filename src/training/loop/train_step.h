#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/row_batch.h"
#include "models/language_model.h"
#include "objectives/objective.h"
#include "optim/adamw/adamw.h"
#include "precision/mixed/loss_scaler.h"

namespace megadlm::training {

/// What one optimizer step did.
struct StepResult {
  double loss = 0;           ///< nats per token over the global batch
  double gradient_norm = 0;  ///< before clipping
  int64_t tokens = 0;        ///< tokens that went through the model
  int64_t head_tokens = 0;   ///< positions that the output layer ran on
  /// Set when the loss or a gradient was not finite and the step was left out: names the first place seen.
  std::optional<std::string> non_finite;
  /// Set beside it when only fp16 gradients overflowed and a smaller loss scale is left to try: no fault.
  bool overflow = false;
};

/// Gradient accumulation over a step's micro-batches, then one update.
class TrainStep {
 public:
  TrainStep(models::LanguageModel& model, const objectives::Objective& objective, optim::AdamW& optimizer,
            precision::LossScaler& scaler)
      : model_(model), objective_(objective), optimizer_(optimizer), scaler_(scaler) {}

  /// `micro_batches` make up the global batch.
  StepResult run(const std::vector<data::RowBatch>& micro_batches, double learning_rate);

 private:
  void backward(const objectives::TrainingExample& example, double normalizer, StepResult& result);

  models::LanguageModel& model_;
  const objectives::Objective& objective_;
  optim::AdamW& optimizer_;
  precision::LossScaler& scaler_;
};

}  // namespace megadlm::training
