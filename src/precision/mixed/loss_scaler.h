#pragma once

#include <cstdint>

#include "config/options/training.h"

namespace megadlm::precision {

/// The factor on the loss that keeps fp16 gradients out of the range where they vanish (Micikevicius et al.,
/// "Mixed precision training", 2018). Dynamic, as Megatron-LM's: halves from the
/// `hysteresis`-th overflow on, doubles after `loss_scale_window` good steps in a row and then bears as many
/// overflows again. Constant 1 unless fp16.
class LossScaler {
 public:
  explicit LossScaler(const config::PrecisionOptions& options);

  double scale() const { return scale_; }
  /// Whether a smaller scale is left to try when gradients overflow.
  bool can_fall() const { return dynamic_ && scale_ > options_.min_loss_scale; }
  /// Tells of a step's outcome.
  void update(bool overflow);

  /// What a checkpoint keeps.
  struct State {
    double scale;
    int64_t good_steps, hysteresis_left;
  };
  State state() const { return {scale_, good_steps_, hysteresis_left_}; }
  void restore(const State& state);

 private:
  config::PrecisionOptions options_;
  bool dynamic_;
  double scale_;
  int64_t good_steps_ = 0;
  int64_t hysteresis_left_;
};

}  // namespace megadlm::precision
