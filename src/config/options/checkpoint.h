#pragma once

#include <optional>
#include <string>

#include "config/option.h"

namespace megadlm::config {

struct CheckpointOptions {
  static constexpr std::string_view group = "Checkpoints";
  std::string save;
  std::string load;
  std::optional<int64_t> save_interval;
  int64_t keep_last = 0;
  bool no_save_optim = false;
  bool no_load_optim = false;
  bool finetune = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.save, "save", "Folder of this run's checkpoints and metrics.");
    option(self.load, "load",
           "Folder of checkpoints to go on from; without a checkpoint in it training starts fresh.");
    option(self.save_interval, "save-interval", "Iterations between checkpoints.", at_least(1));
    option(self.keep_last, "keep-last", "Keep only so many of the newest checkpoints. 0: all.", at_least(0));
    option(self.no_save_optim, "no-save-optim", "Leave the optimizer's states out of checkpoints.");
    option(self.no_load_optim, "no-load-optim", "Do not load the optimizer's states.");
    option(self.finetune, "finetune", "Load weights only: iteration, samples and optimizer start at zero.");
  }
};

struct LoggingOptions {
  static constexpr std::string_view group = "Logging";
  int64_t log_interval = 100;
  std::string tensorboard_dir;
  std::string log_level = "info";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.log_interval, "log-interval", "Iterations between log lines.", at_least(1));
    option(self.tensorboard_dir, "tensorboard-dir", "Folder of TensorBoard event files.");
    option(self.log_level, "log-level", "trace, debug, info, warning, error or off.");
  }
};

}  // namespace megadlm::config
