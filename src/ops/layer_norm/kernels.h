#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Kernels over rows [begin, end) of [rows, size] arrays, fp32 or bf16 by the suffix.
struct LayerNormKernels {
  struct Forward {
    const void *x, *residual;  ///< residual may be null
    const void *weight, *bias;
    void *y, *sum;  ///< sum: where residual + x goes; null without residual
    float *mean, *inverse_deviation;
    int64_t size;
    float epsilon;
  };
  struct Backward {
    const void *x, *weight, *grad_y, *grad_sum;  ///< x: what was normalised; grad_sum may be null
    const float *mean, *inverse_deviation;
    void* grad_x;
    float *grad_weight, *grad_bias;  ///< [size], added to: the part of these rows
    int64_t size;
  };
  void (*forward_f32)(const Forward&, int64_t begin, int64_t end);
  void (*forward_bf16)(const Forward&, int64_t begin, int64_t end);
  void (*backward_f32)(const Backward&, int64_t begin, int64_t end);
  void (*backward_bf16)(const Backward&, int64_t begin, int64_t end);
};

MEGADLM_DECLARE_KERNELS(LayerNormKernels, layer_norm_kernels);

}  // namespace megadlm::ops
