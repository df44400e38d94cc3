#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/options/checkpoint.h"
#include "config/options/training.h"
#include "data/row_batch.h"
#include "evaluation/likelihood/likelihood.h"
#include "optim/schedule/schedule.h"
#include "training/loop/train_step.h"
#include "training/metrics/metrics.h"

namespace megadlm::training {

/// How far training is; kept in checkpoints.
struct TrainingState {
  int64_t iteration = 0;
  int64_t consumed_samples = 0;
  int64_t scheduled_samples = 0;  ///< those of steps that were taken: where the learning rate stands
  int64_t consumed_tokens = 0;
  int64_t skipped_iterations = 0;
};

/// What the loop needs from the stage around it.
struct LoopHooks {
  /// Rows of the given samples, for global batch number `batch`.
  std::function<data::RowBatch(const std::vector<int64_t>& samples, int64_t batch)> rows;
  /// Held-out likelihood; empty when there is no validation data.
  std::function<evaluation::LikelihoodResult()> evaluate;
  /// Writes a checkpoint; empty without --save.
  std::function<void()> save;
  std::function<void(const StepMetrics&)> log;
  /// The current fp16 loss scale; empty for other precisions.
  std::function<double()> loss_scale;
};

/// The figures behind model FLOP/s and MFU.
struct SpeedModel {
  /// Model FLOPs of a step with so many tokens, of which `head_tokens` ran the output layer.
  std::function<double(int64_t tokens, int64_t head_tokens)> step_flops;
  double peak_flops_per_second = 0;  ///< measured GEMM peak
};

/// Steps until training is done, a stop was asked for, or a step failed; logs, evaluates and saves between.
class TrainingLoop {
 public:
  TrainingLoop(TrainStep& step, const optim::LearningRateSchedule& schedule,
               const config::TrainingOptions& training, const config::CheckpointOptions& checkpoint,
               const config::LoggingOptions& logging, SpeedModel speed, LoopHooks hooks,
               TrainingState& state);

  void run();

 private:
  int64_t total_iterations() const;
  double learning_rate() const;
  std::vector<data::RowBatch> next_batch() const;
  void account(const StepResult& result);
  void check_finite(const StepResult& result);
  void log_window(double learning_rate, const std::optional<evaluation::LikelihoodResult>& evaluated);
  std::optional<std::string> stop_reason() const;
  double elapsed_seconds() const;

  TrainStep& step_;
  const optim::LearningRateSchedule& schedule_;
  const config::TrainingOptions& training_;
  const config::CheckpointOptions& checkpoint_;
  const config::LoggingOptions& logging_;
  SpeedModel speed_;
  LoopHooks hooks_;
  TrainingState& state_;
  int64_t consecutive_skips_ = 0;
  int64_t first_iteration_ = 0;  ///< where this process took over
  double start_ = 0;
  struct Sums {
    double start = 0, paused = 0, loss = 0, gradient_norm = 0, flops = 0;
    int64_t steps = 0, finite_steps = 0, tokens = 0, faults = 0;
  } window_;
};

}  // namespace megadlm::training
