#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "config/options/objective.h"
#include "data/row_batch.h"
#include "ops/attention/visibility.h"

namespace megadlm::objectives {

/// What the model is given and how its outputs are scored. The loss of a step is the sum over positions of
/// weight x cross-entropy(output at the position, target).
struct TrainingExample {
  at::Tensor inputs;     ///< [b, s] i64
  at::Tensor targets;    ///< [b, s] i64; read only where the weight is not zero
  at::Tensor weights;    ///< [b, s] f32, to be divided by the global batch's `tokens`
  at::Tensor positions;  ///< [b, s] i64 or undefined
  ops::Visibility visibility;
  double tokens = 0;  ///< what this batch adds to the normaliser: positions that the loss is a mean over
};

/// Turns clean rows into a TrainingExample; pure, keyed by the rows' sample numbers.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual TrainingExample make(const data::RowBatch& rows) const = 0;
  /// Extra tokens that a row needs beyond the sequence length (AR: 1, for the last target).
  virtual int64_t extra_tokens() const = 0;
};

/// The objective that the options name. `mask_token` is required by the diffusion modes.
std::unique_ptr<Objective> make_objective(const config::ObjectiveOptions& options, int64_t mask_token,
                                          uint64_t seed);

}  // namespace megadlm::objectives
