#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Kernels over tokens [begin, end). packed [tokens, groups, heads / groups + 2, head_size]; query, key,
/// value [tokens, heads or groups, head_size]. Angles of token i: row rows[i] of `table` [.., channels].
struct QkvRotaryKernels {
  struct Shape {
    int64_t heads, groups, head_size, channels;
    const float* table;                     ///< null: no rotation
    const int64_t* rows;                    ///< [tokens]
    const void *query_weight, *key_weight;  ///< null: no norm
    float epsilon;
  };
  struct Forward {
    Shape shape;
    const void* packed;
    void *query, *key, *value;
  };
  struct Backward {
    Shape shape;
    const void* packed;
    const void *grad_query, *grad_key, *grad_value;
    void* grad_packed;
    float *grad_query_weight, *grad_key_weight;  ///< [head_size], added to
  };
  void (*forward_f32)(const Forward&, int64_t begin, int64_t end);
  void (*forward_bf16)(const Forward&, int64_t begin, int64_t end);
  void (*backward_f32)(const Backward&, int64_t begin, int64_t end);
  void (*backward_bf16)(const Backward&, int64_t begin, int64_t end);
};

/// The largest head that the kernels take.
inline constexpr int64_t kLargestHead = 512;

MEGADLM_DECLARE_KERNELS(QkvRotaryKernels, qkv_rotary_kernels);
namespace cuda {
extern const QkvRotaryKernels qkv_rotary_kernels;
}

}  // namespace megadlm::ops
