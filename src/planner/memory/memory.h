#pragma once

#include <cstdint>
#include <string>

#include "config/architecture/architecture.h"
#include "config/options/training.h"

namespace megadlm::planner {

/// What decides a training process's memory beside the architecture.
struct TrainingShape {
  int64_t micro_batch_size = 1;
  int64_t global_batch_size = 1;
  int64_t seq_length = 0;
  config::Precision precision = config::Precision::fp32;
};

/// Bytes at the peak of a training step, by part. Every number is an estimate of live tensors; the program,
/// libraries and the allocator's fragments come on top.
struct MemoryEstimate {
  double weights = 0;           ///< copies in the compute type; 0 where the masters are computed with
  double masters = 0;           ///< fp32
  double gradients = 0;         ///< compute type, and the fp32 sums of gradient accumulation
  double optimizer_states = 0;  ///< two fp32 moments
  double activations = 0;       ///< kept from the forward pass for the backward pass
  double logits = 0;            ///< one chunk of the loss head, and the head's gradients
  double total() const { return weights + masters + gradients + optimizer_states + activations + logits; }
};

/// Estimates a step of a resolved architecture without recomputation. With h hidden size, q = heads x head
/// size, k = groups x head size, f = feed-forward width (twice that before a gate), per token and layer:
///
///   activations = 4 h (both norms' inputs and outputs) + 2 (q + 2 k) (packed projection; queries, keys and
///                 values) + q (attention's output) + f_in + f
///
/// in the compute type. Attention keeps no pairs. The embedding's and last norm's outputs add 3 h a token.
MemoryEstimate estimate_memory(const config::Architecture& architecture, const TrainingShape& shape);

/// An Error where the estimate is above `machine_bytes`: both sizes, the largest parts and what to lower.
void check_memory(const MemoryEstimate& estimate, uint64_t machine_bytes);

/// "1.25 GiB".
std::string format_bytes(double bytes);

}  // namespace megadlm::planner
