#include "ops/cuda/device.h"
#include "ops/qkv_rotary/kernels.h"
#include "ops/simd/row_blocks.h"

namespace megadlm::ops::cuda {
namespace {

using Shape = QkvRotaryKernels::Shape;

constexpr int kWarps = kThreads / 32, kPerLane = kLargestHead / 32;
static_assert(kDeviceParts % kWarps == 0);

/// A head of a token within the packed projection.
struct Place {
  int64_t token, head;  ///< head: among the queries or among the keys
  enum { query, key, value } kind;
};

__device__ Place place_of(const Shape& shape, int64_t item) {
  const int64_t per_group = shape.heads / shape.groups, slots = shape.groups * (per_group + 2);
  const int64_t token = item / slots, group = item % slots / (per_group + 2),
                slot = item % slots % (per_group + 2);
  if (slot < per_group) return {token, group * per_group + slot, Place::query};
  return {token, group, slot == per_group ? Place::key : Place::value};
}

template <class T>
__device__ T* head_of(const Shape& shape, const Place& place, T* query, T* key, T* value) {
  if (place.kind == Place::query) return query + (place.token * shape.heads + place.head) * shape.head_size;
  return (place.kind == Place::key ? key : value) +
         (place.token * shape.groups + place.head) * shape.head_size;
}

template <class T>
__device__ float inverse_rms(const T* x, const Shape& shape, int lane) {
  float squares = 0;
  for (int64_t i = lane; i < shape.head_size; i += 32) squares += to_float(x[i]) * to_float(x[i]);
  return rsqrtf(warp_sum(squares) / static_cast<float>(shape.head_size) + shape.epsilon);
}

/// A warp a head.
template <class T>
__global__ void forward_kernel(QkvRotaryKernels::Forward a, int64_t items) {
  __shared__ float buffers[kWarps][kLargestHead];
  const Shape& shape = a.shape;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* values = buffers[warp];
  for (int64_t item = blockIdx.x * int64_t{kWarps} + warp; item < items;
       item += int64_t{gridDim.x} * kWarps) {
    const Place place = place_of(shape, item);
    const T* x = static_cast<const T*>(a.packed) + item * shape.head_size;
    T* out =
        head_of(shape, place, static_cast<T*>(a.query), static_cast<T*>(a.key), static_cast<T*>(a.value));
    const T* weight = static_cast<const T*>(place.kind == Place::query ? shape.query_weight
                                            : place.kind == Place::key ? shape.key_weight
                                                                       : nullptr);
    const float scale = weight == nullptr ? 1 : inverse_rms(x, shape, lane);
    for (int64_t i = lane; i < shape.head_size; i += 32) {
      values[i] = weight == nullptr ? to_float(x[i])
                                    : round_to<T>(round_to<T>(to_float(x[i]) * scale) * to_float(weight[i]));
    }
    __syncwarp();
    const int64_t channels = shape.table == nullptr || place.kind == Place::value ? 0 : shape.channels;
    const int64_t half = channels / 2;
    const float* cosine = channels == 0 ? nullptr : shape.table + shape.rows[place.token] * shape.channels;
    for (int64_t i = lane; i < half; i += 32) {
      const float first = values[i], second = values[i + half], c = cosine[i], s = cosine[i + half];
      store(out + i, first * c - second * s);
      store(out + i + half, second * c + first * s);
    }
    for (int64_t i = channels + lane; i < shape.head_size; i += 32) store(out + i, values[i]);
    __syncwarp();
  }
}

/// A warp takes every kDeviceParts-th head and keeps its share of the norm weights' gradients to itself, so
/// that sums are the same on each run.
template <class T>
__global__ void backward_kernel(QkvRotaryKernels::Backward a, int64_t items) {
  __shared__ float buffers[kWarps][kLargestHead];
  const Shape& shape = a.shape;
  const int64_t size = shape.head_size;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t part = blockIdx.x * int64_t{kWarps} + warp;
  float* grad = buffers[warp];
  float query_sums[kPerLane] = {}, key_sums[kPerLane] = {};
  for (int64_t item = part; item < items; item += kDeviceParts) {
    const Place place = place_of(shape, item);
    const T* x = static_cast<const T*>(a.packed) + item * size;
    T* grad_x = static_cast<T*>(a.grad_packed) + item * size;
    const T* grad_out = head_of(shape, place, static_cast<const T*>(a.grad_query),
                                static_cast<const T*>(a.grad_key), static_cast<const T*>(a.grad_value));
    const int64_t channels = shape.table == nullptr || place.kind == Place::value ? 0 : shape.channels;
    const int64_t half = channels / 2;
    const float* cosine = channels == 0 ? nullptr : shape.table + shape.rows[place.token] * shape.channels;
    for (int64_t i = lane; i < half; i += 32) {
      const float first = to_float(grad_out[i]), second = to_float(grad_out[i + half]);
      grad[i] = first * cosine[i] + second * cosine[i + half];
      grad[i + half] = second * cosine[i] - first * cosine[i + half];
    }
    for (int64_t i = channels + lane; i < size; i += 32) grad[i] = to_float(grad_out[i]);
    __syncwarp();
    const T* weight = static_cast<const T*>(place.kind == Place::query ? shape.query_weight
                                            : place.kind == Place::key ? shape.key_weight
                                                                       : nullptr);
    if (weight == nullptr) {
      for (int64_t i = lane; i < size; i += 32) store(grad_x + i, grad[i]);
      __syncwarp();
      continue;
    }
    const float scale = inverse_rms(x, shape, lane);
    float dot = 0;
    float* sums = place.kind == Place::query ? query_sums : key_sums;
    for (int64_t i = lane, j = 0; i < size; i += 32, ++j) {
      const float normed = to_float(x[i]) * scale;
      sums[j] += grad[i] * round_to<T>(normed);
      dot += grad[i] * to_float(weight[i]) * normed;
    }
    dot = warp_sum(dot) / static_cast<float>(size);
    for (int64_t i = lane; i < size; i += 32)
      store(grad_x + i, scale * (grad[i] * to_float(weight[i]) - to_float(x[i]) * scale * dot));
    __syncwarp();
  }
  for (int64_t i = lane, j = 0; i < size; i += 32, ++j) {
    a.grad_query_weight[part * 2 * size + i] = query_sums[j];
    a.grad_key_weight[part * 2 * size + i] = key_sums[j];
  }
}

int64_t items_of(const Shape& shape, int64_t tokens) { return tokens * (shape.heads + 2 * shape.groups); }

// Both are called for all tokens at once.
template <class T>
void forward(const QkvRotaryKernels::Forward& a, int64_t, int64_t end) {
  const int64_t items = items_of(a.shape, end);
  if (items == 0) return;
  forward_kernel<T><<<blocks_for(items * 32), kThreads, 0, stream()>>>(a, items);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class T>
void backward(const QkvRotaryKernels::Backward& a, int64_t, int64_t end) {
  backward_kernel<T><<<kDeviceParts / kWarps, kThreads, 0, stream()>>>(a, items_of(a.shape, end));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace

const QkvRotaryKernels qkv_rotary_kernels{forward<float>, forward<Bf16>, backward<float>, backward<Bf16>};

}  // namespace megadlm::ops::cuda
