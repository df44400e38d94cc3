#include "precision/mixed/loss_scaler.h"

#include <algorithm>

namespace megadlm::precision {

LossScaler::LossScaler(const config::PrecisionOptions& options)
    : options_(options),
      dynamic_(options.fp16 && !options.loss_scale),
      scale_(!options.fp16 ? 1.0 : options.loss_scale.value_or(options.initial_loss_scale)),
      hysteresis_left_(options.hysteresis) {}

void LossScaler::update(bool overflow) {
  if (!dynamic_) return;
  if (overflow) {
    good_steps_ = 0;
    if (hysteresis_left_ > 0) --hysteresis_left_;
    if (hysteresis_left_ == 0) scale_ = std::max(scale_ / 2, options_.min_loss_scale);
    return;
  }
  if (++good_steps_ % options_.loss_scale_window == 0) {
    hysteresis_left_ = options_.hysteresis;
    scale_ *= 2;
  }
}

void LossScaler::restore(const State& state) {
  if (!dynamic_) return;
  scale_ = state.scale;
  good_steps_ = state.good_steps;
  hysteresis_left_ = state.hysteresis_left;
}

}  // namespace megadlm::precision
