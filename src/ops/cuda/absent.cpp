// In place of the CUDA kernels where the program is built without them.

#include "ops/adamw/kernels.h"
#include "ops/gated_activation/kernels.h"
#include "ops/linear_cross_entropy/kernels.h"
#include "ops/qkv_rotary/kernels.h"
#include "ops/simd/isa.h"

namespace megadlm::ops::cuda {

const bool kBuilt = false;
const AdamWKernels adamw_kernels{};
const CrossEntropyKernels cross_entropy_kernels{};
const GatedActivationKernels gated_activation_kernels{};
const QkvRotaryKernels qkv_rotary_kernels{};

}  // namespace megadlm::ops::cuda
