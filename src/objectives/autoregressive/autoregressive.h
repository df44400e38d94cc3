#pragma once

#include "objectives/objective.h"

namespace megadlm::objectives {

/// Next-token prediction: output i scores token i + 1. Rows carry one token more than the sequence length.
class Autoregressive : public Objective {
 public:
  explicit Autoregressive(const config::ObjectiveOptions& options) : options_(options) {}
  TrainingExample make(const data::RowBatch& rows) const override;
  int64_t extra_tokens() const override { return 1; }

 private:
  config::ObjectiveOptions options_;
};

}  // namespace megadlm::objectives
