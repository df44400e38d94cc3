#pragma once

// What CUDA kernels share. Each computes in fp32 on fp32 or bf16 numbers, on the stream that ATen uses now.

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>

#include <cstdint>

namespace megadlm::ops::cuda {

using Bf16 = __nv_bfloat16;

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(Bf16 value) { return __bfloat162float(value); }
__device__ inline void store(float* target, float value) { *target = value; }
__device__ inline void store(Bf16* target, float value) { *target = __float2bfloat16(value); }
template <class T>
__device__ inline float round_to(float value) {
  T stored;
  store(&stored, value);
  return to_float(stored);
}

/// Sum over a warp, in every lane.
__device__ inline float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}
__device__ inline float warp_largest(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, offset));
  return value;
}

constexpr int kThreads = 256;

/// Blocks for `items`, one a thread; loops over the rest take their stride from the grid.
inline int blocks_for(int64_t items) {
  const int64_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < 1 ? 1 : (blocks > 65535 ? 65535 : blocks));
}

inline cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream(); }

}  // namespace megadlm::ops::cuda
