#pragma once

#include "ops/attention/cpu/blocks.h"

namespace megadlm::ops::MEGADLM_ISA {

/// Forward: parts are blocks of queries of a head. Keys and values are packed before, once for all blocks and
/// for all query heads of a group.
template <class Format>
struct AttentionForward {
  using Element = typename Format::Element;
  static constexpr int64_t kQueries = 48, kKeys = 2 * kPanel;

  static int64_t padded_keys(const Shape& shape) { return round_up(shape.keys, kKeys); }
  static int64_t key_words(const Shape& shape) {
    return panel_words(channel_words<Format>(shape), padded_keys(shape));
  }
  static int64_t value_depth(const Shape& shape) { return padded_keys(shape) / Format::kPerWord; }
  static int64_t value_words(const Shape& shape) { return panel_words(value_depth(shape), shape.channels); }
  static int64_t head_words(const Shape& shape) { return key_words(shape) + value_words(shape); }
  static int64_t packed_words(const Shape& shape) { return shape.batch * shape.groups * head_words(shape); }

  static int64_t key_blocks(const Shape& shape) { return padded_keys(shape) / kKeys; }
  static int64_t query_blocks(const Shape& shape) { return (shape.queries + kQueries - 1) / kQueries; }
  static int64_t pack_parts(const Shape& shape) { return shape.batch * shape.groups * key_blocks(shape); }
  static int64_t parts(const Shape& shape) { return shape.batch * shape.heads * query_blocks(shape); }

  static int64_t output_stride(const Shape& shape) { return round_up(shape.channels, kLanes); }
  static int64_t scratch_words(const Shape& shape) {
    return kQueries *
           (channel_words<Format>(shape) + kKeys + kKeys / Format::kPerWord + output_stride(shape) + 2);
  }

  /// Packs one block of keys and values of a head.
  static void pack(const AttentionKernels::Forward& a, int64_t begin, int64_t end) {
    const Shape& shape = a.shape;
    const int64_t words = channel_words<Format>(shape), blocks = key_blocks(shape);
    for (int64_t part = begin; part < end; ++part) {
      const int64_t head = part / blocks, batch = head / shape.groups, group = head % shape.groups;
      const int64_t key = part % blocks * kKeys, keys = std::min(kKeys, shape.keys - key);
      int32_t* packed = a.packed + head * head_words(shape);
      const auto key_rows = rows_of<Format>(a.key, batch, group, key, keys, shape.channels);
      pack_transposed<Format>(key_rows, kKeys, words, packed + key * words);
      const auto value_rows = rows_of<Format>(a.value, batch, group, key, keys, shape.channels);
      pack_panels<Format>(value_rows, 0, kKeys, value_depth(shape),
                          packed + key_words(shape) + key / Format::kPerWord * kPanel);
    }
  }

  /// Buffers of one thread.
  struct Scratch {
    Scratch(int32_t* words, const Shape& shape)
        : query(words),
          probabilities(query + kQueries * channel_words<Format>(shape)),
          scores(reinterpret_cast<float*>(probabilities + kQueries * kKeys / Format::kPerWord)),
          output(scores + kQueries * kKeys),
          largest(output + kQueries * output_stride(shape)),
          sum(largest + kQueries) {}
    int32_t *query, *probabilities;
    float *scores, *output, *largest, *sum;
  };

  static void run(const AttentionKernels::Forward& a, int32_t* words, int64_t begin, int64_t end) {
    const Shape& shape = a.shape;
    const Scratch scratch(words, shape);
    const int64_t blocks = query_blocks(shape);
    for (int64_t part = begin; part < end; ++part) {
      const int64_t head = part / blocks, query = part % blocks * kQueries;
      attend(a, scratch, head / shape.heads, head % shape.heads, query,
             std::min(kQueries, shape.queries - query));
    }
  }

  /// One block of queries over all keys that it sees.
  static void attend(const AttentionKernels::Forward& a, const Scratch& scratch, int64_t batch, int64_t head,
                     int64_t query, int64_t queries) {
    const Shape& shape = a.shape;
    const int64_t words = channel_words<Format>(shape), stride = output_stride(shape);
    const int64_t group = batch * shape.groups + head / (shape.heads / shape.groups);
    const int32_t* packed = a.packed + group * head_words(shape);
    const Panels keys{packed, words}, values{packed + key_words(shape), value_depth(shape)};
    pack_rows<Format>(rows_of<Format>(a.query, batch, head, query, queries, shape.channels), queries, words,
                      scratch.query);
    std::fill_n(scratch.largest, queries, kNothing);
    std::fill_n(scratch.sum, queries, 0.0f);
    std::fill_n(scratch.output, queries * stride, 0.0f);
    for (int64_t key = 0; key < shape.keys; key += kKeys) {
      const Seen visible = seen(shape, batch, query, queries, key, kKeys);
      if (visible == Seen::none) continue;
      block_product<Format>(queries, scratch.query, words, keys, {key, kKeys, 0, words}, scratch.scores,
                            kKeys, false);
      if (visible == Seen::part) hide(shape, batch, query, queries, key, kKeys, scratch.scores);
      for (int64_t i = 0; i < queries; ++i) normalize(scratch, i, shape.scale * kLog2E, stride);
      block_product<Format>(queries, scratch.probabilities, kKeys / Format::kPerWord, values,
                            {0, shape.channels, key / Format::kPerWord, kKeys / Format::kPerWord},
                            scratch.output, stride, true);
    }
    finish(a, scratch, batch, head, query, queries);
  }

  /// Turns a row of scores into probabilities relative to its largest score so far, and brings what was
  /// summed before to the same scale. `scale`: of scores to powers of two.
  static void normalize(const Scratch& scratch, int64_t row, float scale, int64_t stride) {
    const float* scores = scratch.scores + row * kKeys;
    auto* target = reinterpret_cast<Element*>(scratch.probabilities) + row * kKeys;
    Floats highest = load_vector<Floats>(scores);
    for (int64_t j = kLanes; j < kKeys; j += kLanes)
      highest = larger(highest, load_vector<Floats>(scores + j));
    const float before = scratch.largest[row], now = std::max(before, largest_of(highest) * scale);
    if (now > before) {
      const float shrink = exp2(broadcast(before - now))[0];
      scratch.largest[row] = now;
      scratch.sum[row] *= shrink;
      float* output = scratch.output + row * stride;
      for (int64_t j = 0; j < stride; ++j) output[j] *= shrink;
    }
    const Floats factor = broadcast(scale), offset = broadcast(-now);
    Floats sum{};
    for (int64_t j = 0; j < kKeys; j += kLanes) {
      const Floats probability = exp2(multiply_add(load_vector<Floats>(scores + j), factor, offset));
      sum += probability;
      Format::store_row(target + j, probability);
    }
    scratch.sum[row] += sum_of(sum);
  }

  static void finish(const AttentionKernels::Forward& a, const Scratch& scratch, int64_t batch, int64_t head,
                     int64_t query, int64_t queries) {
    const Shape& shape = a.shape;
    auto* output = static_cast<Element*>(a.output.data) + batch * a.output.batch_stride +
                   head * a.output.head_stride + query * a.output.row_stride;
    float* log_sums = a.log_sums + (batch * shape.heads + head) * shape.queries + query;
    for (int64_t i = 0; i < queries; ++i) {
      const float sum = scratch.sum[i], inverse = sum == 0 ? 0 : 1 / sum;
      const float* from = scratch.output + i * output_stride(shape);
      for (int64_t j = 0; j < shape.channels; ++j)
        store(output + i * a.output.row_stride + j, from[j] * inverse);
      log_sums[i] = sum == 0 ? 0 : (scratch.largest[i] + std::log2(sum)) * kLn2;
    }
  }
};

}  // namespace megadlm::ops::MEGADLM_ISA
