#include "ops/qkv_rotary/reference.h"

#include <ATen/ATen.h>

#include "ops/layer_norm/layer_norm.h"
#include "ops/rms_norm/reference.h"

namespace megadlm::ops::reference {
namespace {

at::Tensor normalise(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  if (!weight.defined()) return x;
  return bias.defined() ? layer_norm(x, weight, bias, epsilon) : rms_norm(x, weight, epsilon);
}

/// x [b, s, n, d]; table [b or 1, s, 1, channels].
at::Tensor rotate(const at::Tensor& x, const at::Tensor& table) {
  const int64_t channels = table.size(-1), half = channels / 2;
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor cosine = table.slice(-1, 0, half), sine = table.slice(-1, half);
  const at::Tensor first = wide.slice(-1, 0, half), second = wide.slice(-1, half, channels);
  return at::cat({first * cosine - second * sine, second * cosine + first * sine, wide.slice(-1, channels)},
                 -1)
      .to(x.scalar_type());
}

}  // namespace

QueryKeyValue qkv_rotary(const at::Tensor& qkv, const QkvRotary& options) {
  const int64_t rows = qkv.size(0), length = qkv.size(1), per_group = options.heads / options.groups;
  const at::Tensor grouped = qkv.view({rows, length, options.groups, per_group + 2, options.head_size});
  at::Tensor query = grouped.slice(3, 0, per_group).reshape({rows, length, options.heads, options.head_size});
  at::Tensor key = grouped.select(3, per_group);
  query = normalise(query, options.query_norm_weight, options.query_norm_bias, options.epsilon);
  key = normalise(key, options.key_norm_weight, options.key_norm_bias, options.epsilon);
  if (options.rotary_table.defined() && options.rotary_table.size(1) > 0) {
    const at::Tensor table =
        options.positions.defined()
            ? options.rotary_table.index_select(0, options.positions.flatten()).view({rows, length, 1, -1})
            : options.rotary_table.slice(0, options.first_position, options.first_position + length)
                  .view({1, length, 1, -1});
    query = rotate(query, table);
    key = rotate(key, table);
  }
  return {query, key, grouped.select(3, per_group + 1)};
}

}  // namespace megadlm::ops::reference
