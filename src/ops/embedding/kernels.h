#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Kernels over rows [begin, end) of the weight's gradient [rows, size]: each is the sum of the rows of
/// grad_y whose token it belongs to, in the order of their positions, or zero.
struct EmbeddingKernels {
  struct Backward {
    const void* grad_y;        ///< [positions, size]
    const int64_t* starts;     ///< [rows + 1]: where each row's positions begin in `positions`
    const int32_t* positions;  ///< all positions, sorted by token
    void* grad_weight;
    int64_t size;
  };
  void (*backward_f32)(const Backward&, int64_t begin, int64_t end);
  void (*backward_bf16)(const Backward&, int64_t begin, int64_t end);
};

MEGADLM_DECLARE_KERNELS(EmbeddingKernels, embedding_kernels);

}  // namespace megadlm::ops
