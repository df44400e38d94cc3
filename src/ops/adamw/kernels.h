#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Kernels over elements [begin, end).
struct AdamWKernels {
  struct Step {
    float *master, *exp_avg, *exp_avg_sq;
    const void* gradient;
    void* compute_copy;  ///< bf16, or null
    float decay;         ///< 1 - lr x weight decay
    float beta1, beta2;
    float rest1, rest2;        ///< 1 - beta1, 1 - beta2, taken in double
    float step_size;           ///< lr / (1 - beta1^step)
    float inverse_correction;  ///< 1 / sqrt(1 - beta2^step)
    float epsilon, gradient_scale;
  };
  void (*step_f32)(const Step&, int64_t begin, int64_t end);
  void (*step_bf16)(const Step&, int64_t begin, int64_t end);
  void (*add_f32)(float* sum, const void* values, int64_t begin, int64_t end);
  void (*add_bf16)(float* sum, const void* values, int64_t begin, int64_t end);
  double (*squares_f32)(const void* values, int64_t begin, int64_t end);
  double (*squares_bf16)(const void* values, int64_t begin, int64_t end);
};

MEGADLM_DECLARE_KERNELS(AdamWKernels, adamw_kernels);
namespace cuda {
extern const AdamWKernels adamw_kernels;
}

}  // namespace megadlm::ops
