#include "ops/layer_norm/kernels.h"
#include "ops/simd/vector_math.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

template <class T>
void forward(const LayerNormKernels::Forward& a, int64_t begin, int64_t end) {
  const int64_t size = a.size;
  const auto length = static_cast<float>(size);
  const T *weight = static_cast<const T*>(a.weight), *bias = static_cast<const T*>(a.bias);
  for (int64_t row = begin; row < end; ++row) {
    const T* x = static_cast<const T*>(a.x) + row * size;
    if (a.residual != nullptr) {
      const T* residual = static_cast<const T*>(a.residual) + row * size;
      T* sum = static_cast<T*>(a.sum) + row * size;
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) store(sum + i, to_float(x[i]) + to_float(residual[i]));
      x = sum;
    }
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < size; ++i) total += to_float(x[i]);
    const float mean = total / length;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < size; ++i) squares += (to_float(x[i]) - mean) * (to_float(x[i]) - mean);
    const float scale = 1.0f / std::sqrt(squares / length + a.epsilon);
    a.mean[row] = mean;
    a.inverse_deviation[row] = scale;
    T* y = static_cast<T*>(a.y) + row * size;
#pragma omp simd
    for (int64_t i = 0; i < size; ++i)
      store(y + i, (to_float(x[i]) - mean) * scale * to_float(weight[i]) + to_float(bias[i]));
  }
}

template <class T>
void backward(const LayerNormKernels::Backward& a, int64_t begin, int64_t end) {
  const int64_t size = a.size;
  const T* weight = static_cast<const T*>(a.weight);
  for (int64_t row = begin; row < end; ++row) {
    const T* x = static_cast<const T*>(a.x) + row * size;
    const T* grad = static_cast<const T*>(a.grad_y) + row * size;
    const T* grad_sum = a.grad_sum == nullptr ? nullptr : static_cast<const T*>(a.grad_sum) + row * size;
    const float mean = a.mean[row], scale = a.inverse_deviation[row];
    float total = 0, dot = 0;
    float *grad_weight = a.grad_weight, *grad_bias = a.grad_bias;
#pragma omp simd reduction(+ : total, dot)
    for (int64_t i = 0; i < size; ++i) {
      const float normed = (to_float(x[i]) - mean) * scale, g = to_float(grad[i]);
      const float weighted = g * to_float(weight[i]);
      total += weighted;
      dot += weighted * normed;
      grad_weight[i] += g * normed;
      grad_bias[i] += g;
    }
    total /= static_cast<float>(size);
    dot /= static_cast<float>(size);
    T* grad_x = static_cast<T*>(a.grad_x) + row * size;
    const auto gradient = [&](int64_t i) {
      const float normed = (to_float(x[i]) - mean) * scale;
      return scale * (to_float(grad[i]) * to_float(weight[i]) - total - normed * dot);
    };
    if (grad_sum != nullptr) {
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) store(grad_x + i, gradient(i) + to_float(grad_sum[i]));
    } else {
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) store(grad_x + i, gradient(i));
    }
  }
}

}  // namespace

const LayerNormKernels layer_norm_kernels{forward<float>, forward<Bf16>, backward<float>, backward<Bf16>};

}  // namespace megadlm::ops::MEGADLM_ISA
