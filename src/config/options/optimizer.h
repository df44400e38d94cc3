#pragma once

#include <optional>

#include "config/option.h"

namespace megadlm::config {

enum class DecayStyle { constant, linear, cosine, inverse_square_root, wsd };
template <>
struct EnumNames<DecayStyle> {
  static constexpr std::array value{
      std::pair{DecayStyle::constant, std::string_view("constant")},
      std::pair{DecayStyle::linear, std::string_view("linear")},
      std::pair{DecayStyle::cosine, std::string_view("cosine")},
      std::pair{DecayStyle::inverse_square_root, std::string_view("inverse-square-root")},
      std::pair{DecayStyle::wsd, std::string_view("WSD")}};
};
enum class WsdDecayStyle { exponential, linear, cosine, minus_sqrt };
template <>
struct EnumNames<WsdDecayStyle> {
  static constexpr std::array value{std::pair{WsdDecayStyle::exponential, std::string_view("exponential")},
                                    std::pair{WsdDecayStyle::linear, std::string_view("linear")},
                                    std::pair{WsdDecayStyle::cosine, std::string_view("cosine")},
                                    std::pair{WsdDecayStyle::minus_sqrt, std::string_view("minus_sqrt")}};
};

struct OptimizerOptions {
  static constexpr std::string_view group = "Optimizer";
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_eps = 1e-8;
  double weight_decay = 0.01;
  double clip_grad = 1.0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.adam_beta1, "adam-beta1", "Decay of the first moment.", below(0, 1));
    option(self.adam_beta2, "adam-beta2", "Decay of the second moment.", below(0, 1));
    option(self.adam_eps, "adam-eps", "Added to the root of the second moment.", positive());
    option(self.weight_decay, "weight-decay", "Decoupled weight decay of matrices (not of norms, biases).",
           at_least(0));
    option(self.clip_grad, "clip-grad", "Largest global gradient norm. 0: no clipping.", at_least(0));
  }
};

/// Learning rate over iterations, or over samples where samples are given.
struct ScheduleOptions {
  static constexpr std::string_view group = "Learning rate";
  double lr = 0.0;
  double min_lr = 0.0;
  DecayStyle lr_decay_style = DecayStyle::linear;
  std::optional<int64_t> lr_decay_iters;
  std::optional<int64_t> lr_decay_samples;
  int64_t lr_warmup_iters = 0;
  int64_t lr_warmup_samples = 0;
  std::optional<double> lr_warmup_fraction;
  double lr_warmup_init = 0.0;
  WsdDecayStyle lr_wsd_decay_style = WsdDecayStyle::exponential;
  std::optional<int64_t> lr_wsd_decay_iters;
  std::optional<int64_t> lr_wsd_decay_samples;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.lr, "lr", "Peak learning rate.", positive());
    option(self.min_lr, "min-lr", "Smallest learning rate after warm-up.", at_least(0));
    option(self.lr_decay_style, "lr-decay-style", "Shape of the decay.");
    option(self.lr_decay_iters, "lr-decay-iters",
           "Iterations until the smallest rate. Absent: all of training.", at_least(1));
    option(self.lr_decay_samples, "lr-decay-samples", "The same in samples.", at_least(1));
    option(self.lr_warmup_iters, "lr-warmup-iters", "Iterations of linear warm-up.", at_least(0));
    option(self.lr_warmup_samples, "lr-warmup-samples", "The same in samples.", at_least(0));
    option(self.lr_warmup_fraction, "lr-warmup-fraction", "Warm-up as a share of the decay's length.",
           between(0, 1));
    option(self.lr_warmup_init, "lr-warmup-init", "Learning rate at the start of warm-up.", at_least(0));
    option(self.lr_wsd_decay_style, "lr-wsd-decay-style", "Shape of the WSD schedule's last part.");
    option(self.lr_wsd_decay_iters, "lr-wsd-decay-iters", "Iterations of the WSD schedule's last part.",
           at_least(1));
    option(self.lr_wsd_decay_samples, "lr-wsd-decay-samples", "The same in samples.", at_least(1));
  }
};

}  // namespace megadlm::config
