#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Attention over [batch, length, heads, channels] arrays, fp32 or bf16 by the suffix, that never stores
/// scores: running maxima and sums (Milakov & Gimelshein, "Online normalizer calculation for softmax", 2018;
/// Dao et al., "FlashAttention", 2022). The order of every sum depends on the shapes alone.
struct AttentionKernels {
  struct Shape {
    int64_t batch, queries, keys, heads, groups, channels;
    float scale;
    const int32_t* limits;    ///< [queries]: a query sees keys below its limit
    const int32_t* segments;  ///< [batch, keys] or null: and only those of its own segment (queries == keys)
  };
  /// Where an array's rows lie, in elements; a row's channels are neighbours.
  struct View {
    void* data;
    int64_t batch_stride, row_stride, head_stride;
  };
  struct Forward {
    Shape shape;
    View query, key, value, output;
    float* log_sums;  ///< [batch, heads, queries]: natural logarithm of each row's sum of exponentials
    int32_t* packed;  ///< packed_words(shape) of workspace
  };
  struct Backward {
    Shape shape;
    View query, key, value, output, grad_output;
    const float* log_sums;
    View grad_query, grad_key, grad_value;
  };
  struct Implementation {
    /// Words of workspace for keys and values of all heads.
    int64_t (*packed_words)(const Shape&);
    /// How many independent parts `pack`, `forward` and `backward` have.
    int64_t (*pack_parts)(const Shape&);
    int64_t (*forward_parts)(const Shape&);
    int64_t (*backward_parts)(const Shape&);
    /// Words of scratch that a caller of `forward` or `backward` gives each thread.
    int64_t (*forward_scratch)(const Shape&);
    int64_t (*backward_scratch)(const Shape&);
    void (*pack)(const Forward&, int64_t begin, int64_t end);
    void (*forward)(const Forward&, int32_t* scratch, int64_t begin, int64_t end);
    void (*backward)(const Backward&, int32_t* scratch, int64_t begin, int64_t end);
  };
  Implementation f32, bf16;
};

MEGADLM_DECLARE_KERNELS(AttentionKernels, attention_kernels);

}  // namespace megadlm::ops
