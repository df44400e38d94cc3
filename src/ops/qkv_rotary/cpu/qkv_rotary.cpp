#include <cstring>

#include "ops/qkv_rotary/kernels.h"
#include "ops/simd/vector_math.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

using Shape = QkvRotaryKernels::Shape;

template <class T>
float inverse_rms(const T* x, int64_t size, float epsilon) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < size; ++i) squares += to_float(x[i]) * to_float(x[i]);
  return 1.0f / std::sqrt(squares / static_cast<float>(size) + epsilon);
}

/// out = rotate(norm(x)) of one head; `angles`: cosines, then sines, or null.
template <class T>
void head_forward(const Shape& shape, const T* x, const T* weight, const float* angles, T* out) {
  float values[kLargestHead];
  const int64_t size = shape.head_size;
  if (weight != nullptr) {
    const float scale = inverse_rms(x, size, shape.epsilon);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) {
      values[i] = round_to<T>(round_to<T>(to_float(x[i]) * scale) * to_float(weight[i]));
    }
  } else {
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) values[i] = to_float(x[i]);
  }
  const int64_t channels = angles != nullptr ? shape.channels : 0, half = channels / 2;
  const float *cosine = angles, *sine = angles + half;
#pragma omp simd
  for (int64_t i = 0; i < half; ++i) {
    const float first = values[i], second = values[i + half];
    store(out + i, first * cosine[i] - second * sine[i]);
    store(out + i + half, second * cosine[i] + first * sine[i]);
  }
#pragma omp simd
  for (int64_t i = channels; i < size; ++i) store(out + i, values[i]);
}

/// The gradient of head_forward; the norm weight's is added to grad_weight.
template <class T>
void head_backward(const Shape& shape, const T* x, const T* weight, const float* angles, const T* grad_out,
                   T* grad_x, float* grad_weight) {
  float grad[kLargestHead];
  const int64_t size = shape.head_size, channels = angles != nullptr ? shape.channels : 0,
                half = channels / 2;
  const float *cosine = angles, *sine = angles + half;
#pragma omp simd
  for (int64_t i = 0; i < half; ++i) {
    const float first = to_float(grad_out[i]), second = to_float(grad_out[i + half]);
    grad[i] = first * cosine[i] + second * sine[i];
    grad[i + half] = second * cosine[i] - first * sine[i];
  }
#pragma omp simd
  for (int64_t i = channels; i < size; ++i) grad[i] = to_float(grad_out[i]);
  if (weight == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) store(grad_x + i, grad[i]);
    return;
  }
  const float scale = inverse_rms(x, size, shape.epsilon);
  float dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int64_t i = 0; i < size; ++i) {
    const float normed = to_float(x[i]) * scale;
    grad_weight[i] += grad[i] * round_to<T>(normed);
    dot += grad[i] * to_float(weight[i]) * normed;
  }
  dot /= static_cast<float>(size);
#pragma omp simd
  for (int64_t i = 0; i < size; ++i) {
    store(grad_x + i, scale * (grad[i] * to_float(weight[i]) - to_float(x[i]) * scale * dot));
  }
}

template <class T>
void forward(const QkvRotaryKernels::Forward& a, int64_t begin, int64_t end) {
  const Shape& shape = a.shape;
  const int64_t size = shape.head_size, per_group = shape.heads / shape.groups;
  const T *query_weight = static_cast<const T*>(shape.query_weight),
          *key_weight = static_cast<const T*>(shape.key_weight);
  for (int64_t token = begin; token < end; ++token) {
    const float* angles = shape.table != nullptr ? shape.table + shape.rows[token] * shape.channels : nullptr;
    const T* packed = static_cast<const T*>(a.packed) + token * (shape.heads + 2 * shape.groups) * size;
    T* query = static_cast<T*>(a.query) + token * shape.heads * size;
    T* key = static_cast<T*>(a.key) + token * shape.groups * size;
    T* value = static_cast<T*>(a.value) + token * shape.groups * size;
    for (int64_t group = 0; group < shape.groups; ++group) {
      for (int64_t head = 0; head < per_group; ++head, packed += size, query += size) {
        head_forward(shape, packed, query_weight, angles, query);
      }
      head_forward(shape, packed, key_weight, angles, key + group * size);
      packed += size;
      std::memcpy(value + group * size, packed, static_cast<size_t>(size) * sizeof(T));
      packed += size;
    }
  }
}

template <class T>
void backward(const QkvRotaryKernels::Backward& a, int64_t begin, int64_t end) {
  const Shape& shape = a.shape;
  const int64_t size = shape.head_size, per_group = shape.heads / shape.groups;
  const T *query_weight = static_cast<const T*>(shape.query_weight),
          *key_weight = static_cast<const T*>(shape.key_weight);
  for (int64_t token = begin; token < end; ++token) {
    const float* angles = shape.table != nullptr ? shape.table + shape.rows[token] * shape.channels : nullptr;
    const int64_t start = token * (shape.heads + 2 * shape.groups) * size;
    const T* packed = static_cast<const T*>(a.packed) + start;
    T* grad_packed = static_cast<T*>(a.grad_packed) + start;
    const T* grad_query = static_cast<const T*>(a.grad_query) + token * shape.heads * size;
    const T* grad_key = static_cast<const T*>(a.grad_key) + token * shape.groups * size;
    const T* grad_value = static_cast<const T*>(a.grad_value) + token * shape.groups * size;
    for (int64_t group = 0; group < shape.groups; ++group) {
      for (int64_t head = 0; head < per_group;
           ++head, packed += size, grad_packed += size, grad_query += size) {
        head_backward(shape, packed, query_weight, angles, grad_query, grad_packed, a.grad_query_weight);
      }
      head_backward(shape, packed, key_weight, angles, grad_key + group * size, grad_packed,
                    a.grad_key_weight);
      packed += 2 * size;
      grad_packed += size;
      std::memcpy(grad_packed, grad_value + group * size, static_cast<size_t>(size) * sizeof(T));
      grad_packed += size;
    }
  }
}

}  // namespace

const QkvRotaryKernels qkv_rotary_kernels{forward<float>, forward<Bf16>, backward<float>, backward<Bf16>};

}  // namespace megadlm::ops::MEGADLM_ISA
