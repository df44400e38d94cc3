#pragma once

#include "ops/attention/cpu/blocks.h"

namespace megadlm::ops::MEGADLM_ISA {

/// Backward, with the probabilities P computed again from the scores: with dP = dO V^T, D = the row sums of
/// dO O and dS = scale P (dP - D), the gradients are dV = P^T dO, dQ = dS K, dK = dS^T Q. A part is a group
/// of query heads with its head of keys and values; sums over blocks and heads are added in order.
template <class Format>
struct AttentionBackward {
  using Element = typename Format::Element;
  static constexpr int64_t kQueries = 64, kKeys = 2 * kPanel;
  static constexpr int64_t kPer = Format::kPerWord, kBlockDepth = kQueries / kPer;

  static int64_t parts(const Shape& shape) { return shape.batch * shape.groups; }
  static int64_t padded_keys(const Shape& shape) { return round_up(shape.keys, kKeys); }
  static int64_t padded_queries(const Shape& shape) { return round_up(shape.queries, kQueries); }
  static int64_t channel_stride(const Shape& shape) { return round_up(shape.channels, kLanes); }
  static int64_t heads_of_group(const Shape& shape) { return shape.heads / shape.groups; }

  /// Buffers of one thread.
  struct Scratch {
    Scratch(int32_t* base, const Shape& shape) : next(base) {
      const int64_t words = channel_words<Format>(shape), keys = padded_keys(shape),
                    queries = padded_queries(shape);
      const int64_t heads = heads_of_group(shape), channels = channel_stride(shape);
      keys_transposed = take(panel_words(words, keys));
      values_transposed = take(panel_words(words, keys));
      keys_deep = take(panel_words(keys / kPer, shape.channels));
      query_rows = take(heads * queries * words);
      grad_rows = take(heads * queries * words);
      query_columns = take(heads * channels * queries / kPer);
      grad_columns = take(heads * channels * queries / kPer);
      grad_query = take_floats(heads * queries * channels);
      log_sums = take_floats(heads * queries);
      products = take_floats(heads * queries);
      scores = take_floats(kQueries * kKeys);
      grad_scores = take_floats(kQueries * kKeys);
      probabilities_deep = take(kQueries / kPer * kKeys);
      grad_scores_deep = take(kQueries / kPer * kKeys);
      grad_scores_rows = take(kQueries * kKeys / kPer);
      grad_key = take_floats(channels * kKeys);
      grad_value = take_floats(channels * kKeys);
      pairs = take(kBlockDepth * channels);
    }
    int32_t* take(int64_t count) {
      int32_t* taken = next;
      next += round_up(count, 16);
      return taken;
    }
    float* take_floats(int64_t count) { return reinterpret_cast<float*>(take(count)); }

    int32_t* next;
    int32_t *keys_transposed, *values_transposed, *keys_deep;
    int32_t *query_rows, *grad_rows, *query_columns, *grad_columns;  ///< of each head of the group
    float *grad_query, *log_sums, *products;                         ///< of each head of the group
    float *scores, *grad_scores;
    int32_t *probabilities_deep, *grad_scores_deep, *grad_scores_rows;
    float *grad_key, *grad_value;  ///< transposed: [channels, keys of a block]
    int32_t* pairs;
  };

  static int64_t scratch_words(const Shape& shape) {
    int32_t* const nothing = nullptr;
    return Scratch(nothing, shape).next - nothing;
  }

  static void run(const AttentionKernels::Backward& a, int32_t* words, int64_t begin, int64_t end) {
    const Scratch scratch(words, a.shape);
    for (int64_t part = begin; part < end; ++part) {
      const int64_t batch = part / a.shape.groups, group = part % a.shape.groups;
      pack_keys(a, scratch, batch, group);
      for (int64_t head = 0; head < heads_of_group(a.shape); ++head)
        pack_head(a, scratch, batch, group, head);
      for (int64_t key = 0; key < a.shape.keys; key += kKeys) block_of_keys(a, scratch, batch, group, key);
      for (int64_t head = 0; head < heads_of_group(a.shape); ++head) {
        const int64_t of_all = group * heads_of_group(a.shape) + head;
        store_rows(a.grad_query, batch, of_all, 0, a.shape.queries, a.shape.channels,
                   scratch.grad_query + head * padded_queries(a.shape) * channel_stride(a.shape),
                   channel_stride(a.shape), 1);
      }
    }
  }

  static void pack_keys(const AttentionKernels::Backward& a, const Scratch& scratch, int64_t batch,
                        int64_t group) {
    const Shape& shape = a.shape;
    const int64_t words = channel_words<Format>(shape), keys = padded_keys(shape);
    const auto key = rows_of<Format>(a.key, batch, group, 0, shape.keys, shape.channels);
    pack_transposed<Format>(key, keys, words, scratch.keys_transposed);
    pack_transposed<Format>(rows_of<Format>(a.value, batch, group, 0, shape.keys, shape.channels), keys,
                            words, scratch.values_transposed);
    pack_panels<Format>(key, 0, keys, keys / kPer, scratch.keys_deep);
  }

  /// Queries and output gradients of a head as rows and as columns, and what their softmax needs.
  static void pack_head(const AttentionKernels::Backward& a, const Scratch& scratch, int64_t batch,
                        int64_t group, int64_t head) {
    const Shape& shape = a.shape;
    const int64_t words = channel_words<Format>(shape), queries = padded_queries(shape);
    const int64_t channels = channel_stride(shape), of_all = group * heads_of_group(shape) + head;
    const auto pack = [&](const Rows<Element>& from, int32_t* rows, int32_t* columns) {
      pack_rows<Format>(from, queries, words, rows + head * queries * words);
      for (int64_t query = 0; query < queries; query += kQueries) {
        for (int64_t pair = 0; pair < kBlockDepth; ++pair)
          for (int64_t column = 0; column < channels; column += kLanes)
            store_vector(scratch.pairs + pair * channels + column,
                         interleaved<Format>(from, query / kPer + pair, column));
        transpose_words(scratch.pairs, channels, kBlockDepth, channels,
                        columns + (head * queries + query) / kPer * channels, kBlockDepth);
      }
    };
    const auto grad = rows_of<Format>(a.grad_output, batch, of_all, 0, shape.queries, shape.channels);
    pack(rows_of<Format>(a.query, batch, of_all, 0, shape.queries, shape.channels), scratch.query_rows,
         scratch.query_columns);
    pack(grad, scratch.grad_rows, scratch.grad_columns);
    const auto output = rows_of<Format>(a.output, batch, of_all, 0, shape.queries, shape.channels);
    const float* log_sums = a.log_sums + (batch * shape.heads + of_all) * shape.queries;
    float* own_log_sums = scratch.log_sums + head * queries;
    float* products = scratch.products + head * queries;
    for (int64_t i = 0; i < queries; ++i) {
      Floats sum{};
      for (int64_t j = 0; j < channels; j += kLanes)
        sum = multiply_add(row_part<Format>(grad, i, j), row_part<Format>(output, i, j), sum);
      products[i] = sum_of(sum);
      own_log_sums[i] = i < shape.queries ? log_sums[i] * kLog2E : -kNothing;  // padding: no probability
    }
    std::fill_n(scratch.grad_query + head * queries * channels, queries * channels, 0.0f);
  }

  /// The gradients of a block of keys and values, whole; and its share of the queries'.
  static void block_of_keys(const AttentionKernels::Backward& a, const Scratch& scratch, int64_t batch,
                            int64_t group, int64_t key) {
    const Shape& shape = a.shape;
    const int64_t channels = channel_stride(shape), keys = std::min(kKeys, shape.keys - key);
    std::fill_n(scratch.grad_key, channels * kKeys, 0.0f);
    std::fill_n(scratch.grad_value, channels * kKeys, 0.0f);
    for (int64_t head = 0; head < heads_of_group(shape); ++head) {
      for (int64_t query = 0; query < shape.queries; query += kQueries) {
        const int64_t queries = std::min(kQueries, shape.queries - query);
        const Seen visible = seen(shape, batch, query, queries, key, kKeys);
        if (visible == Seen::none) continue;
        tile(a, scratch, batch, head, query, key, visible);
      }
    }
    store_columns(a.grad_key, batch, group, key, keys, shape.channels, scratch.grad_key);
    store_columns(a.grad_value, batch, group, key, keys, shape.channels, scratch.grad_value);
  }

  /// One block of queries with one of keys.
  static void tile(const AttentionKernels::Backward& a, const Scratch& scratch, int64_t batch, int64_t head,
                   int64_t query, int64_t key, Seen visible) {
    const Shape& shape = a.shape;
    const int64_t words = channel_words<Format>(shape), all_queries = padded_queries(shape);
    const int64_t channels = channel_stride(shape), row = head * all_queries + query;
    const Panels keys{scratch.keys_transposed, words}, values{scratch.values_transposed, words};
    block_product<Format>(kQueries, scratch.query_rows + row * words, words, keys, {key, kKeys, 0, words},
                          scratch.scores, kKeys, false);
    block_product<Format>(kQueries, scratch.grad_rows + row * words, words, values, {key, kKeys, 0, words},
                          scratch.grad_scores, kKeys, false);
    const int64_t queries = std::min(kQueries, shape.queries - query);
    if (visible == Seen::part) hide(shape, batch, query, queries, key, kKeys, scratch.scores);
    differentiate(scratch, scratch.log_sums + row, scratch.products + row, shape.scale);
    const Panels probabilities{scratch.probabilities_deep, kBlockDepth};
    const Panels grad_scores{scratch.grad_scores_deep, kBlockDepth};
    const Block whole{0, kKeys, 0, kBlockDepth};
    const int64_t column = row / kPer * channels;
    block_product<Format>(shape.channels, scratch.grad_columns + column, kBlockDepth, probabilities, whole,
                          scratch.grad_value, kKeys, true);
    block_product<Format>(shape.channels, scratch.query_columns + column, kBlockDepth, grad_scores, whole,
                          scratch.grad_key, kKeys, true);
    const Panels keys_deep{scratch.keys_deep, padded_keys(shape) / kPer};
    block_product<Format>(queries, scratch.grad_scores_rows, kKeys / kPer, keys_deep,
                          {0, shape.channels, key / kPer, kKeys / kPer}, scratch.grad_query + row * channels,
                          channels, true);
  }

  /// Probabilities and the gradients of scores of a tile, in the layouts that the products after it need.
  static void differentiate(const Scratch& scratch, const float* log_sums, const float* products,
                            float scale) {
    const Floats factor = broadcast(scale * kLog2E), outer = broadcast(scale);
    auto* rows = reinterpret_cast<Element*>(scratch.grad_scores_rows);
    for (int64_t pair = 0; pair < kBlockDepth; ++pair) {
      for (int64_t j = 0; j < kKeys; j += kLanes) {
        Floats probability[kPer], grad[kPer];
        for (int64_t k = 0; k < kPer; ++k) {
          const int64_t i = pair * kPer + k;
          const Floats score = load_vector<Floats>(scratch.scores + i * kKeys + j);
          const Floats grad_score = load_vector<Floats>(scratch.grad_scores + i * kKeys + j);
          probability[k] = exp2(multiply_add(score, factor, broadcast(-log_sums[i])));
          grad[k] = probability[k] * (grad_score - broadcast(products[i])) * outer;
          Format::store_row(rows + i * kKeys + j, grad[k]);
        }
        const int64_t to = (j / kPanel * kBlockDepth + pair) * kPanel + j % kPanel;
        store_vector(scratch.probabilities_deep + to, Format::words(probability));
        store_vector(scratch.grad_scores_deep + to, Format::words(grad));
      }
    }
  }

  static void store_rows(const AttentionKernels::View& view, int64_t batch, int64_t head, int64_t first,
                         int64_t rows, int64_t channels, const float* from, int64_t row_stride,
                         int64_t channel_stride) {
    auto* to = static_cast<Element*>(view.data) + batch * view.batch_stride + head * view.head_stride +
               first * view.row_stride;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < channels; ++j)
        store(to + i * view.row_stride + j, from[i * row_stride + j * channel_stride]);
  }

  /// Rows from a transposed block [channels, kKeys].
  static void store_columns(const AttentionKernels::View& view, int64_t batch, int64_t head, int64_t key,
                            int64_t keys, int64_t channels, const float* from) {
    store_rows(view, batch, head, key, keys, channels, from, 1, kKeys);
  }
};

}  // namespace megadlm::ops::MEGADLM_ISA
