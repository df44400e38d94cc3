#include "ops/cuda/device.h"
#include "ops/gated_activation/kernels.h"

namespace megadlm::ops::cuda {
namespace {

struct Silu {
  __device__ static float value(float x) { return x / (1 + __expf(-x)); }
  __device__ static float derivative(float x) {
    const float sigmoid = 1 / (1 + __expf(-x));
    return sigmoid * (1 + x * (1 - sigmoid));
  }
};
struct Gelu {
  __device__ static float value(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }
  __device__ static float derivative(float x) {
    return 0.5f * (1 + erff(x * 0.70710678f)) + x * 0.39894228f * __expf(-0.5f * x * x);
  }
};

template <class T, class Gate>
__global__ void forward_kernel(const T* x, T* y, int64_t size, int64_t count) {
  for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < count;
       i += int64_t{gridDim.x} * kThreads) {
    const T* gate = x + i / size * 2 * size + i % size;
    store(y + i, Gate::value(to_float(gate[0])) * to_float(gate[size]));
  }
}

template <class T, class Gate>
__global__ void backward_kernel(const T* x, const T* grad_y, T* grad_x, int64_t size, int64_t count) {
  for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < count;
       i += int64_t{gridDim.x} * kThreads) {
    const int64_t at = i / size * 2 * size + i % size;
    const float gate = to_float(x[at]), grad = to_float(grad_y[i]);
    store(grad_x + at, grad * to_float(x[at + size]) * Gate::derivative(gate));
    store(grad_x + at + size, grad * Gate::value(gate));
  }
}

template <class T, class Gate>
void forward(const GatedActivationKernels::Forward& a, int64_t begin, int64_t end) {
  const int64_t count = (end - begin) * a.size;
  if (count == 0) return;
  forward_kernel<T, Gate><<<blocks_for(count), kThreads, 0, stream()>>>(
      static_cast<const T*>(a.x) + begin * 2 * a.size, static_cast<T*>(a.y) + begin * a.size, a.size, count);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class T, class Gate>
void backward(const GatedActivationKernels::Backward& a, int64_t begin, int64_t end) {
  const int64_t count = (end - begin) * a.size;
  if (count == 0) return;
  backward_kernel<T, Gate><<<blocks_for(count), kThreads, 0, stream()>>>(
      static_cast<const T*>(a.x) + begin * 2 * a.size, static_cast<const T*>(a.grad_y) + begin * a.size,
      static_cast<T*>(a.grad_x) + begin * 2 * a.size, a.size, count);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace

const GatedActivationKernels gated_activation_kernels{{forward<float, Silu>, forward<float, Gelu>},
                                                      {forward<Bf16, Silu>, forward<Bf16, Gelu>},
                                                      {backward<float, Silu>, backward<float, Gelu>},
                                                      {backward<Bf16, Silu>, backward<Bf16, Gelu>}};

}  // namespace megadlm::ops::cuda
