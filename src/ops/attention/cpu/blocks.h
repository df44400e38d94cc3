#pragma once

// What forward and backward share: blocks of scores, and which of them anything sees.

#include <algorithm>

#include "ops/attention/kernels.h"
#include "ops/gemm/cpu/packing.h"

namespace megadlm::ops::MEGADLM_ISA {

using Shape = AttentionKernels::Shape;

inline constexpr float kLn2 = 0.693147180559945309f;
inline constexpr float kNothing = -1e30f;  ///< the running maximum of a row that has seen no key yet

template <class Format>
inline Rows<typename Format::Element> rows_of(const AttentionKernels::View& view, int64_t batch, int64_t head,
                                              int64_t begin, int64_t rows, int64_t channels) {
  using Element = typename Format::Element;
  const Element* data = static_cast<const Element*>(view.data) + batch * view.batch_stride +
                        head * view.head_stride + begin * view.row_stride;
  return {data, rows, channels, view.row_stride};
}

/// Words of a row of channels: whole vectors.
template <class Format>
inline int64_t channel_words(const Shape& shape) {
  return round_up((shape.channels + Format::kPerWord - 1) / Format::kPerWord, kLanes);
}

enum class Seen { none, part, all };

/// What queries [query, query + queries) see of keys [key, key + keys).
inline Seen seen(const Shape& shape, int64_t batch, int64_t query, int64_t queries, int64_t key,
                 int64_t keys) {
  const auto [least, most] = std::minmax_element(shape.limits + query, shape.limits + query + queries);
  if (*most <= key) return Seen::none;
  const bool below = *least >= key + keys;
  if (shape.segments == nullptr) return below ? Seen::all : Seen::part;
  const int32_t* segments = shape.segments + batch * shape.keys;
  const int64_t last = std::min(key + keys, shape.keys);
  const auto [query_first, query_last] = std::minmax_element(segments + query, segments + query + queries);
  const auto [key_first, key_last] = std::minmax_element(segments + key, segments + last);
  if (*query_last < *key_first || *key_last < *query_first) return Seen::none;
  const bool one = *query_first == *query_last && *key_first == *key_last;
  return below && one ? Seen::all : Seen::part;
}

/// Sets the scores [queries, keys] of pairs that do not see each other, and of keys past the last, to
/// -infinity.
inline void hide(const Shape& shape, int64_t batch, int64_t query, int64_t queries, int64_t key, int64_t keys,
                 float* scores) {
  const int32_t* segments = shape.segments == nullptr ? nullptr : shape.segments + batch * shape.keys;
  for (int64_t i = 0; i < queries; ++i) {
    float* row = scores + i * keys;
    const int64_t limit = std::clamp<int64_t>(shape.limits[query + i] - key, 0, keys);
    for (int64_t j = limit; j < keys; ++j) row[j] = -__builtin_inff();
    if (segments == nullptr) continue;
    const int32_t own = segments[query + i];
    const int32_t* of_keys = segments + key;
    for (int64_t j = 0; j < limit; ++j) row[j] = of_keys[j] == own ? row[j] : -__builtin_inff();
  }
}

}  // namespace megadlm::ops::MEGADLM_ISA
