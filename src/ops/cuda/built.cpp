// Says that the CUDA kernels are there.

#include "ops/simd/isa.h"

namespace megadlm::ops::cuda {

const bool kBuilt = true;

}  // namespace megadlm::ops::cuda
