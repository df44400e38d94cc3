#include "planner/memory/memory.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace megadlm::planner {
namespace {

/// Two sums of the residual stream, the packed projection, attention's result and the MLP's first projection;
/// norms, queries, keys, values and activations are made again from these.
double kept_per_token_and_layer(const config::Architecture& architecture) {
  const double hidden = static_cast<double>(architecture.hidden_size);
  const double queries = static_cast<double>(architecture.num_attention_heads * architecture.kv_channels);
  const double keys = static_cast<double>(architecture.num_query_groups * architecture.kv_channels);
  const double ffn_in = static_cast<double>(architecture.ffn_hidden_size) * (architecture.gated() ? 2 : 1);
  return 2 * hidden + (queries + 2 * keys) + queries + ffn_in;
}

}  // namespace

MemoryEstimate estimate_memory(const config::Architecture& architecture, const TrainingShape& shape) {
  const double parameters = static_cast<double>(config::count_parameters(architecture).total());
  const bool mixed = shape.precision != config::Precision::fp32;
  const double element = mixed ? 2 : 4;
  const double tokens = static_cast<double>(shape.micro_batch_size) * static_cast<double>(shape.seq_length);
  const double hidden = static_cast<double>(architecture.hidden_size);
  const double layers = static_cast<double>(architecture.num_layers);
  const double vocabulary = static_cast<double>(architecture.padded_vocab_size);

  MemoryEstimate estimate;
  estimate.masters = 4 * parameters;
  estimate.weights = mixed ? element * parameters : 0;
  estimate.optimizer_states = 8 * parameters;
  const bool accumulates = shape.global_batch_size > shape.micro_batch_size;
  estimate.gradients = element * parameters + (accumulates ? 4 * parameters : 0);
  estimate.activations = element * tokens * (layers * kept_per_token_and_layer(architecture) + 3 * hidden);
  // All logits at once, or a chunk of them with the fp32 sum of the output matrix's gradient, whatever is
  // less; and the gradient by the hidden states.
  estimate.logits =
      std::min(element * tokens, (4 + element) * hidden) * vocabulary + element * tokens * hidden;
  return estimate;
}

void check_memory(const MemoryEstimate& estimate, uint64_t machine_bytes) {
  if (estimate.total() <= static_cast<double>(machine_bytes)) return;
  const double states = estimate.total() - estimate.activations - estimate.logits;
  const char* remedy = states > static_cast<double>(machine_bytes)
                           ? "lower --num-layers or --hidden-size"
                           : "lower --micro-batch-size (the global batch can stay) or --seq-length";
  base::fail(
      "training needs about {} of memory, this machine has {}: weights, gradients and optimizer {}, "
      "activations {}, "
      "logits {}; {}",
      format_bytes(estimate.total()), format_bytes(static_cast<double>(machine_bytes)), format_bytes(states),
      format_bytes(estimate.activations), format_bytes(estimate.logits), remedy);
}

std::string format_bytes(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.2f} {}", bytes, units[unit]);
}

}  // namespace megadlm::planner
