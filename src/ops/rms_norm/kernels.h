#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Kernels over rows [begin, end) of [rows, size] arrays, fp32 or bf16 by the suffix.
struct RmsNormKernels {
  struct Forward {
    const void *x, *residual;  ///< residual may be null
    const void* weight;
    void *y, *sum;  ///< sum: where residual + x goes; null without residual
    float* inverse_rms;
    int64_t size;
    float epsilon;
  };
  struct Backward {
    const void *x, *weight, *grad_y, *grad_sum;  ///< x: what was normalised; grad_sum may be null
    const float* inverse_rms;
    void* grad_x;
    float* grad_weight;  ///< [size], added to: the part of these rows
    int64_t size;
  };
  void (*forward_f32)(const Forward&, int64_t begin, int64_t end);
  void (*forward_bf16)(const Forward&, int64_t begin, int64_t end);
  void (*backward_f32)(const Backward&, int64_t begin, int64_t end);
  void (*backward_bf16)(const Backward&, int64_t begin, int64_t end);
};

MEGADLM_DECLARE_KERNELS(RmsNormKernels, rms_norm_kernels);

}  // namespace megadlm::ops
