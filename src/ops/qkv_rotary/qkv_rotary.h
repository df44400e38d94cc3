#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace megadlm::ops {

/// How a packed projection is taken apart.
struct QkvRotary {
  int64_t heads = 0, groups = 0, head_size = 0;
  double epsilon = 1e-5;
  at::Tensor rotary_table;  ///< of rotary_table(); undefined: no rotation
  at::Tensor positions;     ///< [b, s] i64; undefined: first_position, first_position + 1, ...
  int64_t first_position = 0;
  at::Tensor query_norm_weight,
      query_norm_bias;  ///< [head_size]; undefined weight: no norm; defined bias: LayerNorm
  at::Tensor key_norm_weight, key_norm_bias;
};

struct QueryKeyValue {
  at::Tensor query;  ///< [b, s, heads, head_size]
  at::Tensor key;    ///< [b, s, groups, head_size]
  at::Tensor value;  ///< [b, s, groups, head_size]
};

/// Takes qkv [b, s, groups x (heads/groups queries, key, value) x head_size] (Megatron-LM's order) apart,
/// normalises each head of queries and keys, and rotates their first channels: pairs (i, i + half) as Hugging
/// Face's rotate_half does (Su et al., "RoFormer").
QueryKeyValue qkv_rotary(const at::Tensor& qkv, const QkvRotary& options);

/// [positions, channels] f32: cosines in the first half, sines in the second.
at::Tensor rotary_table(int64_t positions, int64_t channels, double base);

}  // namespace megadlm::ops
