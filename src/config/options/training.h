#pragma once

#include <optional>
#include <string>

#include "config/option.h"

namespace megadlm::config {

enum class OnNonFinite { stop, skip };
template <>
struct EnumNames<OnNonFinite> {
  static constexpr std::array value{std::pair{OnNonFinite::stop, std::string_view("stop")},
                                    std::pair{OnNonFinite::skip, std::string_view("skip")}};
};

enum class Device { cpu, cuda };
template <>
struct EnumNames<Device> {
  static constexpr std::array value{std::pair{Device::cpu, std::string_view("cpu")},
                                    std::pair{Device::cuda, std::string_view("cuda")}};
};

struct TrainingOptions {
  static constexpr std::string_view group = "Training";
  int64_t micro_batch_size = 1;
  int64_t global_batch_size = 0;
  std::optional<int64_t> train_iters;
  std::optional<int64_t> train_samples;
  std::optional<double> exit_duration_in_mins;
  std::optional<int64_t> exit_interval;
  bool schedule_by_time = false;
  int64_t seed = 1234;
  Device device = Device::cpu;
  int64_t num_threads = 0;
  std::string init_from;
  bool init_checksum = false;
  bool dry_run = false;
  OnNonFinite on_non_finite = OnNonFinite::stop;
  int64_t max_consecutive_skips = 10;
  int64_t eval_interval = 1000;
  int64_t eval_iters = 100;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.micro_batch_size, "micro-batch-size", "Rows of one forward and backward pass.",
           between(1, 1 << 30));
    option(self.global_batch_size, "global-batch-size",
           "Rows of one optimizer step. 0: the micro batch size.", at_least(0));
    option(self.train_iters, "train-iters", "Number of optimizer steps.", at_least(1));
    option(self.train_samples, "train-samples", "Number of samples to train on, in place of --train-iters.",
           at_least(1));
    option(self.exit_duration_in_mins, "exit-duration-in-mins", "Save and exit after so many minutes.",
           positive());
    option(self.exit_interval, "exit-interval", "Save and exit when the iteration is divisible by this.",
           at_least(1));
    option(self.schedule_by_time, "schedule-by-time",
           "Learning-rate decay ends with --exit-duration-in-mins rather than with the iterations. Such a "
           "run is not "
           "repeatable.");
    option(self.seed, "seed", "Seed of every random number.", at_least(0));
    option(self.device, "device", "Where tensors live.");
    option(self.num_threads, "num-threads", "Processor threads of one process. 0: one a core.", at_least(0));
    option(self.init_from, "init-from",
           "Folder of a native or Hugging Face model to take the first weights from.");
    option(self.init_checksum, "init-checksum", "Print a hash of all initial weights and exit.");
    option(self.dry_run, "dry-run", "Print parameters, FLOPs, memory and the configuration, and exit.");
    option(self.on_non_finite, "on-non-finite",
           "When a loss or gradient is not finite: stop, or skip the step and count it. Steps whose fp16 "
           "gradients overflow are always skipped while the loss scale can still fall.");
    option(self.max_consecutive_skips, "max-consecutive-skips", "Stop after so many skipped steps in a row.",
           at_least(1));
    option(self.eval_interval, "eval-interval", "Iterations between evaluations.", at_least(1));
    option(self.eval_iters, "eval-iters", "Batches of one evaluation. 0: no evaluation.", at_least(0));
  }
};

enum class Precision { fp32, bf16, fp16 };

struct PrecisionOptions {
  static constexpr std::string_view group = "Precision";
  bool bf16 = false;
  bool fp16 = false;
  std::optional<double> loss_scale;
  double initial_loss_scale = 4294967296.0;
  double min_loss_scale = 1.0;
  int64_t loss_scale_window = 1000;
  int64_t hysteresis = 2;

  /// fp32 unless one of the two is given; both together are refused by the configuration check.
  Precision precision() const { return bf16 ? Precision::bf16 : fp16 ? Precision::fp16 : Precision::fp32; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.bf16, "bf16", "Compute in bfloat16 with fp32 master weights.");
    option(self.fp16, "fp16", "Compute in float16 with fp32 master weights and loss scaling.");
    option(self.loss_scale, "loss-scale", "Fixed fp16 loss scale. Absent: dynamic.", positive());
    option(self.initial_loss_scale, "initial-loss-scale", "First dynamic loss scale.", positive());
    option(self.min_loss_scale, "min-loss-scale", "Smallest dynamic loss scale.", positive());
    option(self.loss_scale_window, "loss-scale-window", "Good steps before the loss scale doubles.",
           at_least(1));
    option(self.hysteresis, "hysteresis", "Overflows from which on the loss scale halves.", at_least(1));
  }
};

}  // namespace megadlm::config
