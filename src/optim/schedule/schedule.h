#pragma once

#include <cstdint>

#include "config/options/optimizer.h"

namespace megadlm::optim {

/// Learning rate as a function of how much of training is done, in Megatron-LM's units: steps are samples.
/// Iteration n (from 1) uses the rate of the samples consumed before it.
class LearningRateSchedule {
 public:
  /// Lengths given in iterations are multiplied by `global_batch_size`; `train_steps` is the length of
  /// training in samples, the default of the decay's length.
  LearningRateSchedule(const config::ScheduleOptions& options, int64_t global_batch_size,
                       int64_t train_steps);

  double rate(int64_t consumed_samples) const;

  /// The rate of a run whose decay follows the clock: `progress` in [0, 1] is the share of time that is gone;
  /// warm-up still counts samples.
  double rate_by_time(int64_t consumed_samples, double progress) const;

 private:
  double warmup(double steps) const;
  double decayed(double ratio_done) const;

  config::ScheduleOptions options_;
  double warmup_steps_, decay_steps_, wsd_decay_steps_;
};

}  // namespace megadlm::optim
