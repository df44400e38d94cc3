#include "ops/adamw/kernels.h"
#include "ops/cuda/device.h"

namespace megadlm::ops::cuda {
namespace {

template <class T>
__global__ void step_kernel(AdamWKernels::Step s, int64_t begin, int64_t end) {
  const T* gradient = static_cast<const T*>(s.gradient);
  for (int64_t i = begin + blockIdx.x * int64_t{kThreads} + threadIdx.x; i < end;
       i += int64_t{gridDim.x} * kThreads) {
    const float g = to_float(gradient[i]) * s.gradient_scale;
    const float first = s.exp_avg[i] * s.beta1 + s.rest1 * g;
    const float second = s.exp_avg_sq[i] * s.beta2 + s.rest2 * g * g;
    const float weight =
        s.master[i] * s.decay - s.step_size * first / (sqrtf(second) * s.inverse_correction + s.epsilon);
    s.exp_avg[i] = first;
    s.exp_avg_sq[i] = second;
    s.master[i] = weight;
    if (s.compute_copy != nullptr) store(static_cast<Bf16*>(s.compute_copy) + i, weight);
  }
}

template <class T>
void step(const AdamWKernels::Step& a, int64_t begin, int64_t end) {
  if (begin == end) return;
  step_kernel<T><<<blocks_for(end - begin), kThreads, 0, stream()>>>(a, begin, end);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace

// Sums are ATen's there.
const AdamWKernels adamw_kernels{step<float>, step<Bf16>, nullptr, nullptr, nullptr, nullptr};

}  // namespace megadlm::ops::cuda
