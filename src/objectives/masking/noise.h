#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/philox.h"
#include "config/options/objective.h"
#include "data/row_batch.h"

namespace megadlm::objectives {

/// Which positions of a batch are replaced by the mask token, and the weight of each.
struct Noise {
  at::Tensor masked;    ///< [b, s] bool
  at::Tensor weights;   ///< [b, s] f32: 1/p at masked positions, 0 elsewhere
  double maskable = 0;  ///< number of positions that could have been masked
};

/// Which tokens have an output that predicts them, [b, s] bool: where the loss mask says so, and for shifted
/// outputs not at a row's or segment's first token.
at::Tensor maskable_positions(const data::RowBatch& rows, bool shifted);

/// Draws masks: time t = (1 - epsilon) u + epsilon of a row, each maskable position masked with probability
/// t, at least one a row (a uniform one where the draw gave none). p is the row's exact masked fraction
/// (MegaDLMs) or t (LLaDA), by option. Every number is keyed by the row's sample number.
class NoiseSchedule {
 public:
  NoiseSchedule(const config::ObjectiveOptions& options, uint64_t seed);

  /// The masking time of a sample, in [epsilon, 1).
  double time(int64_t sample) const;
  /// `maskable` is a [b, s] bool tensor: the positions that may be masked.
  Noise draw(const at::Tensor& maskable, const std::vector<int64_t>& samples) const;
  /// The common length that this batch's rows are cut to: `length` unless a draw with probability
  /// `difflm_varilen_prob` says another, uniform in {2, ..., length}.
  int64_t row_length(int64_t batch, int64_t length) const;

 private:
  config::ObjectiveOptions options_;
  base::Random time_, mask_, length_;
};

}  // namespace megadlm::objectives
