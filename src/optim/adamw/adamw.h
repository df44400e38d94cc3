#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/options/optimizer.h"
#include "nn/parameter.h"

namespace megadlm::optim {

/// AdamW (Loshchilov and Hutter, 2019) over fp32 master weights, with gradients summed in fp32 over
/// micro-batches. Owns the masters; where the compute type is another, a parameter's `value` is replaced by a
/// copy in that type, rewritten by each step.
class AdamW {
 public:
  /// `parameters` must outlive the optimizer and hold fp32 values.
  AdamW(std::vector<nn::Parameter>& parameters, const config::OptimizerOptions& options,
        at::ScalarType compute_type);

  /// Takes the gradients that backward left in the parameters; `last` says that no further micro-batch
  /// follows in this step (a single micro-batch's gradients are then used as they are).
  void collect_gradients(bool last);

  /// Norm of all gradients times `multiplier` (the inverse loss scale); not finite when one of them is not.
  double gradient_norm(double multiplier) const;

  /// Name of the first parameter with a gradient that is not finite.
  std::optional<std::string> first_non_finite_gradient() const;

  /// One update with the collected gradients times `multiplier`, clipped to `clip_grad` by the norm.
  void step(double learning_rate, double multiplier, double gradient_norm);

  /// Forgets the collected gradients.
  void discard_gradients();

  /// Master weights by parameter name, as checkpoints and evaluation in fp32 want them.
  std::vector<std::pair<std::string, at::Tensor>> masters() const;
  /// Moments by name: `<parameter>.exp_avg` and `<parameter>.exp_avg_sq`.
  std::vector<std::pair<std::string, at::Tensor>> states() const;

  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  /// Rewrites the compute copies after the masters were changed from outside (loading).
  void refresh_compute_copies();

 private:
  struct Slot {
    at::Tensor master, exp_avg, exp_avg_sq;
    at::Tensor sum;  // fp32 sum of earlier micro-batches' gradients; undefined with one micro-batch
    at::Tensor gradient;
  };

  std::vector<nn::Parameter>& parameters_;
  config::OptimizerOptions options_;
  at::ScalarType compute_type_;
  std::vector<Slot> slots_;
  bool summing_ = false;
  int64_t steps_ = 0;
};

}  // namespace megadlm::optim
