#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Kernels over rows [begin, end) of logits [rows, columns].
struct CrossEntropyKernels {
  struct Rows {
    void* logits;  ///< with_gradient: overwritten by weight x (softmax - one-hot)
    const int64_t* targets;
    const float* weights;  ///< null without gradient
    float* losses;         ///< cross-entropy, not weighted
    int64_t columns;
  };
  void (*loss_f32)(const Rows&, int64_t begin, int64_t end);
  void (*loss_bf16)(const Rows&, int64_t begin, int64_t end);
  void (*loss_and_gradient_f32)(const Rows&, int64_t begin, int64_t end);
  void (*loss_and_gradient_bf16)(const Rows&, int64_t begin, int64_t end);
};

MEGADLM_DECLARE_KERNELS(CrossEntropyKernels, cross_entropy_kernels);
namespace cuda {
extern const CrossEntropyKernels cross_entropy_kernels;
}

}  // namespace megadlm::ops
