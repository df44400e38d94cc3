#pragma once

#include <optional>

#include "config/architecture/architecture.h"
#include "nn/attention/key_value_cache.h"
#include "nn/linear/linear.h"
#include "nn/norm/norm.h"
#include "ops/attention/visibility.h"

namespace megadlm::nn {

/// Where the tokens of a pass stand.
struct AttentionContext {
  at::Tensor rotary_table;  ///< [positions, rotary_dim] f32 (cosines, then sines), undefined without rotation
  at::Tensor positions;     ///< [b, s] i64, undefined for first_position, first_position + 1, ...
  int64_t first_position = 0;
  ops::Visibility visibility;
  KeyValueCache* cache = nullptr;
};

/// Grouped-query self-attention. The fused projection gives, per group: its queries, its key, its value
/// (Megatron-LM's order, so that a split over groups is a split over rows).
class SelfAttention {
 public:
  SelfAttention(const config::Architecture& architecture, int64_t layer, uint64_t seed,
                const std::string& name, std::vector<Parameter>& parameters);

  /// [b, s, hidden] → [b, s, hidden].
  at::Tensor forward(const Normed& x, const AttentionContext& context,
                     const std::vector<Parameter>& parameters) const;

 private:
  int64_t heads_, groups_, channels_, layer_;
  double epsilon_;
  Linear qkv_;
  std::optional<Norm> query_norm_, key_norm_;
  Linear projection_;
};

}  // namespace megadlm::nn
