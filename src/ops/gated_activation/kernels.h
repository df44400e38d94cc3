#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Kernels over rows [begin, end): x [rows, 2 x size] → y [rows, size], and the gradient of x.
struct GatedActivationKernels {
  struct Forward {
    const void* x;
    void* y;
    int64_t size;
  };
  struct Backward {
    const void *x, *grad_y;
    void* grad_x;
    int64_t size;
  };
  using ForwardFunction = void (*)(const Forward&, int64_t begin, int64_t end);
  using BackwardFunction = void (*)(const Backward&, int64_t begin, int64_t end);
  ForwardFunction forward_f32[2], forward_bf16[2];  ///< by GateKind
  BackwardFunction backward_f32[2], backward_bf16[2];
};

MEGADLM_DECLARE_KERNELS(GatedActivationKernels, gated_activation_kernels);
namespace cuda {
extern const GatedActivationKernels gated_activation_kernels;
}

}  // namespace megadlm::ops
