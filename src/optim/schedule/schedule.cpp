#include "optim/schedule/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace megadlm::optim {
namespace {

/// The part of (lr - min_lr) that is left when `ratio` of the decay is done.
double linear(double ratio) { return 1 - ratio; }
double cosine(double ratio) { return 0.5 * (std::cos(std::numbers::pi * ratio) + 1); }

double wsd_tail(config::WsdDecayStyle style, double ratio) {
  switch (style) {
    case config::WsdDecayStyle::exponential:
      return 2 * std::pow(0.5, ratio) - 1;
    case config::WsdDecayStyle::linear:
      return linear(ratio);
    case config::WsdDecayStyle::cosine:
      return cosine(ratio);
    case config::WsdDecayStyle::minus_sqrt:
      return 1 - std::sqrt(ratio);
  }
  return 1;
}

}  // namespace

LearningRateSchedule::LearningRateSchedule(const config::ScheduleOptions& options, int64_t global_batch_size,
                                           int64_t train_steps)
    : options_(options) {
  const auto steps = [&](const std::optional<int64_t>& samples, const std::optional<int64_t>& iterations,
                         int64_t otherwise) {
    return static_cast<double>(samples ? *samples : iterations ? *iterations * global_batch_size : otherwise);
  };
  decay_steps_ = steps(options.lr_decay_samples, options.lr_decay_iters, train_steps);
  warmup_steps_ =
      options.lr_warmup_fraction
          ? *options.lr_warmup_fraction * decay_steps_
          : static_cast<double>(options.lr_warmup_samples + options.lr_warmup_iters * global_batch_size);
  wsd_decay_steps_ = steps(options.lr_wsd_decay_samples, options.lr_wsd_decay_iters, 0);
}

double LearningRateSchedule::warmup(double steps) const {
  return options_.lr_warmup_init + (options_.lr - options_.lr_warmup_init) * steps / warmup_steps_;
}

double LearningRateSchedule::decayed(double ratio) const {
  const double coefficient = options_.lr_decay_style == config::DecayStyle::linear   ? linear(ratio)
                             : options_.lr_decay_style == config::DecayStyle::cosine ? cosine(ratio)
                                                                                     : 1.0;
  return options_.min_lr + coefficient * (options_.lr - options_.min_lr);
}

double LearningRateSchedule::rate(int64_t consumed_samples) const {
  const auto steps = static_cast<double>(consumed_samples);
  if (warmup_steps_ > 0 && steps <= warmup_steps_) return warmup(steps);
  if (options_.lr_decay_style == config::DecayStyle::constant) return options_.lr;
  if (steps > decay_steps_) return options_.min_lr;
  if (options_.lr_decay_style == config::DecayStyle::inverse_square_root) {
    const double rate =
        options_.lr * std::sqrt(std::max(warmup_steps_, 1.0)) / std::sqrt(std::max(steps, 1.0));
    return std::max(options_.min_lr, rate);
  }
  if (options_.lr_decay_style == config::DecayStyle::wsd) {
    const double tail = steps - (decay_steps_ - wsd_decay_steps_);
    const double left = tail <= 0 ? 1.0 : wsd_tail(options_.lr_wsd_decay_style, tail / wsd_decay_steps_);
    return options_.min_lr + left * (options_.lr - options_.min_lr);
  }
  return decayed((steps - warmup_steps_) / (decay_steps_ - warmup_steps_));
}

double LearningRateSchedule::rate_by_time(int64_t consumed_samples, double progress) const {
  const auto steps = static_cast<double>(consumed_samples);
  const double rate = decayed(std::clamp(progress, 0.0, 1.0));
  return steps < warmup_steps_ ? std::min(rate, warmup(steps)) : rate;
}

}  // namespace megadlm::optim
