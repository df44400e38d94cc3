#include <cstring>

#include "ops/qkv_rotary/kernels.h"
#include "ops/simd/vectors.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

using Shape = QkvRotaryKernels::Shape;

/// One head of any size.
template <class Format>
struct PlainHead {
  using T = typename Format::Element;

  static float inverse_rms(const T* x, int64_t size, float epsilon) {
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < size; ++i) squares += to_float(x[i]) * to_float(x[i]);
    return 1.0f / std::sqrt(squares / static_cast<float>(size) + epsilon);
  }

  /// out = rotate(norm(x)) of one head; `angles`: cosines, then sines, or null.
  static void forward(const Shape& shape, const T* x, const T* weight, const float* angles, T* out) {
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

  /// The gradient of forward; the norm weight's is added to grad_weight.
  static void backward(const Shape& shape, const T* x, const T* weight, const float* angles,
                       const T* grad_out, T* grad_x, float* grad_weight) {
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
};

/// The same by vectors, where the head and its rotated half are whole vectors; kVectors: how many of
/// them, or 0 for a number that is known only when it runs.
template <class Format, int kVectors>
struct VectorHead {
  using T = typename Format::Element;
  static constexpr int kMost = kVectors > 0 ? kVectors : kLargestHead / kLanes;

  static int64_t vectors(const Shape& shape) { return kVectors > 0 ? kVectors : shape.head_size / kLanes; }
  static Floats load_angles(const float* angles, int64_t i) {
    return load_vector<Floats>(angles + i * kLanes);
  }

  static float inverse_rms(const Shape& shape, const Floats* x) {
    Floats squares{};
    for (int64_t i = 0; i < vectors(shape); ++i) squares = multiply_add(x[i], x[i], squares);
    return 1.0f / std::sqrt(sum_of(squares) / static_cast<float>(shape.head_size) + shape.epsilon);
  }

  static void forward(const Shape& shape, const T* x, const T* weight, const float* angles, T* out) {
    Floats values[kMost];
    const int64_t count = vectors(shape);
    for (int64_t i = 0; i < count; ++i) values[i] = Format::load_row(x + i * kLanes);
    if (weight != nullptr) {
      const Floats scale = broadcast(inverse_rms(shape, values));
      for (int64_t i = 0; i < count; ++i)
        values[i] = Format::round(Format::round(values[i] * scale) * Format::load_row(weight + i * kLanes));
    }
    const int64_t half = angles != nullptr ? shape.channels / 2 / kLanes : 0;
    for (int64_t i = 0; i < half; ++i) {
      const Floats first = values[i], second = values[i + half];
      const Floats cosine = load_angles(angles, i), sine = load_angles(angles, i + half);
      Format::store_row(out + i * kLanes, first * cosine - second * sine);
      Format::store_row(out + (i + half) * kLanes, second * cosine + first * sine);
    }
    for (int64_t i = 2 * half; i < count; ++i) Format::store_row(out + i * kLanes, values[i]);
  }

  static void backward(const Shape& shape, const T* x, const T* weight, const float* angles,
                       const T* grad_out, T* grad_x, float* grad_weight) {
    Floats grad[kMost], values[kMost];
    const int64_t count = vectors(shape), half = angles != nullptr ? shape.channels / 2 / kLanes : 0;
    for (int64_t i = 0; i < half; ++i) {
      const Floats first = Format::load_row(grad_out + i * kLanes);
      const Floats second = Format::load_row(grad_out + (i + half) * kLanes);
      const Floats cosine = load_angles(angles, i), sine = load_angles(angles, i + half);
      grad[i] = first * cosine + second * sine;
      grad[i + half] = second * cosine - first * sine;
    }
    for (int64_t i = 2 * half; i < count; ++i) grad[i] = Format::load_row(grad_out + i * kLanes);
    if (weight != nullptr) {
      for (int64_t i = 0; i < count; ++i) values[i] = Format::load_row(x + i * kLanes);
      const Floats scale = broadcast(inverse_rms(shape, values));
      Floats dot{};
      for (int64_t i = 0; i < count; ++i) {
        values[i] = values[i] * scale;
        float* sum = grad_weight + i * kLanes;
        store_vector(sum, multiply_add(grad[i], Format::round(values[i]), load_vector<Floats>(sum)));
        grad[i] = grad[i] * Format::load_row(weight + i * kLanes);
        dot = multiply_add(grad[i], values[i], dot);
      }
      const Floats mean = broadcast(sum_of(dot) / static_cast<float>(shape.head_size));
      for (int64_t i = 0; i < count; ++i) grad[i] = (grad[i] - values[i] * mean) * scale;
    }
    for (int64_t i = 0; i < count; ++i) Format::store_row(grad_x + i * kLanes, grad[i]);
  }
};

template <class Format, class Head>
void tokens_forward(const QkvRotaryKernels::Forward& a, int64_t begin, int64_t end) {
  using T = typename Format::Element;
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
        Head::forward(shape, packed, query_weight, angles, query);
      }
      Head::forward(shape, packed, key_weight, angles, key + group * size);
      packed += size;
      std::memcpy(value + group * size, packed, static_cast<size_t>(size) * sizeof(T));
      packed += size;
    }
  }
}

template <class Format, class Head>
void tokens_backward(const QkvRotaryKernels::Backward& a, int64_t begin, int64_t end) {
  using T = typename Format::Element;
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
        Head::backward(shape, packed, query_weight, angles, grad_query, grad_packed, a.grad_query_weight);
      }
      Head::backward(shape, packed, key_weight, angles, grad_key + group * size, grad_packed,
                     a.grad_key_weight);
      packed += 2 * size;
      grad_packed += size;
      std::memcpy(grad_packed, grad_value + group * size, static_cast<size_t>(size) * sizeof(T));
      grad_packed += size;
    }
  }
}

/// Calls `run` with the head implementation that fits the shape.
template <class Format, class Run>
void with_head(const Shape& shape, const Run& run) {
  const int64_t channels = shape.table != nullptr ? shape.channels : 0;
  if (shape.head_size % kLanes != 0 || channels % (2 * kLanes) != 0) {
    run(PlainHead<Format>());
  } else if (shape.head_size == 4 * kLanes) {
    run(VectorHead<Format, 4>());
  } else if (shape.head_size == 8 * kLanes) {
    run(VectorHead<Format, 8>());
  } else {
    run(VectorHead<Format, 0>());
  }
}

template <class Format>
void forward(const QkvRotaryKernels::Forward& a, int64_t begin, int64_t end) {
  with_head<Format>(a.shape, [&](auto head) { tokens_forward<Format, decltype(head)>(a, begin, end); });
}

template <class Format>
void backward(const QkvRotaryKernels::Backward& a, int64_t begin, int64_t end) {
  with_head<Format>(a.shape, [&](auto head) { tokens_backward<Format, decltype(head)>(a, begin, end); });
}

}  // namespace

const QkvRotaryKernels qkv_rotary_kernels{forward<F32Format>, forward<Bf16Format>, backward<F32Format>,
                                          backward<Bf16Format>};

}  // namespace megadlm::ops::MEGADLM_ISA
