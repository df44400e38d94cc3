#include "ops/cuda/device.h"
#include "ops/linear_cross_entropy/kernels.h"

namespace megadlm::ops::cuda {
namespace {

/// Combines what each thread of a block holds; the result in every thread.
template <class Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float warps[kThreads / 32];
  value = combine(value);
  __syncthreads();  // of an earlier use
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  return combine(threadIdx.x % 32 < kThreads / 32 ? warps[threadIdx.x % 32] : combine.neutral());
}
struct Sum {
  __device__ float operator()(float value) const { return warp_sum(value); }
  __device__ float neutral() const { return 0; }
};
struct Largest {
  __device__ float operator()(float value) const { return warp_largest(value); }
  __device__ float neutral() const { return -INFINITY; }
};

/// A block a row: largest, sum of exponentials, then the gradient in place.
template <class T, bool with_gradient>
__global__ void rows_kernel(T* all_logits, const int64_t* targets, const float* weights, float* losses,
                            int64_t columns) {
  const int64_t row = blockIdx.x;
  T* logits = all_logits + row * columns;
  float largest = -INFINITY, sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) largest = fmaxf(largest, to_float(logits[i]));
  largest = over_block(largest, Largest());
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) sum += __expf(to_float(logits[i]) - largest);
  sum = over_block(sum, Sum());
  const int64_t target = targets[row];
  const float at_target = to_float(logits[target]);
  if (threadIdx.x == 0) losses[row] = largest + logf(sum) - at_target;
  if constexpr (with_gradient) {
    __syncthreads();  // everybody has read the target's logit
    const float weight = weights[row], scale = weight / sum;
    for (int64_t i = threadIdx.x; i < columns; i += kThreads)
      store(logits + i, __expf(to_float(logits[i]) - largest) * scale - (i == target ? weight : 0));
  }
}

template <class T, bool with_gradient>
void rows(const CrossEntropyKernels::Rows& a, int64_t begin, int64_t end) {
  if (begin == end) return;
  rows_kernel<T, with_gradient><<<static_cast<unsigned>(end - begin), kThreads, 0, stream()>>>(
      static_cast<T*>(a.logits) + begin * a.columns, a.targets + begin,
      a.weights == nullptr ? nullptr : a.weights + begin, a.losses + begin, a.columns);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace

const CrossEntropyKernels cross_entropy_kernels{rows<float, false>, rows<Bf16, false>, rows<float, true>,
                                                rows<Bf16, true>};

}  // namespace megadlm::ops::cuda
