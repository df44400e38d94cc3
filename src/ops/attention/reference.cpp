#include "ops/attention/reference.h"

#include <ATen/ATen.h>

#include <cmath>

namespace megadlm::ops::reference {
namespace {

/// [b or 1, 1, s, t] bool of visible pairs, undefined when all are.
at::Tensor visible_pairs(const Visibility& visibility, int64_t queries, int64_t keys) {
  at::Tensor visible;
  const at::Tensor key = at::arange(keys), query = at::arange(keys - queries, keys);
  if (visibility.kind == Visibility::Kind::causal) {
    visible = key.unsqueeze(0).le(query.unsqueeze(1)).view({1, 1, queries, keys});
  } else if (visibility.kind == Visibility::Kind::block_causal) {
    const auto block = [&](const at::Tensor& position) {
      return position.floor_divide(visibility.block_size);
    };
    visible = block(key).unsqueeze(0).le(block(query).unsqueeze(1)).view({1, 1, queries, keys});
  }
  if (!visibility.segments.defined()) return visible;
  const at::Tensor same =
      visibility.segments.unsqueeze(2).eq(visibility.segments.unsqueeze(1)).unsqueeze(1).to(at::kCPU);
  return visible.defined() ? visible.logical_and(same) : same;
}

}  // namespace

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const Visibility& visibility, double scale) {
  const int64_t queries = query.size(1), keys = key.size(1);
  const bool causal =
      visibility.kind == Visibility::Kind::causal && !visibility.segments.defined() && queries == keys;
  std::optional<at::Tensor> bias;
  if (!causal) {
    const at::Tensor visible = visible_pairs(visibility, queries, keys);
    if (visible.defined()) {
      bias = at::zeros(visible.sizes(), query.options())
                 .masked_fill_(visible.logical_not().to(query.device()), -INFINITY);
    }
  }
  const bool grouped = query.size(2) != key.size(2);
  return at::scaled_dot_product_attention(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2),
                                          bias, 0.0, causal, scale, grouped)
      .transpose(1, 2);
}

}  // namespace megadlm::ops::reference
