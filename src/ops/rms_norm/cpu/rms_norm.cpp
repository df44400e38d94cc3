#include "ops/rms_norm/kernels.h"
#include "ops/simd/vector_math.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

template <class T>
void forward(const RmsNormKernels::Forward& a, int64_t begin, int64_t end) {
  const int64_t size = a.size;
  const T* weight = static_cast<const T*>(a.weight);
  for (int64_t row = begin; row < end; ++row) {
    const T* x = static_cast<const T*>(a.x) + row * size;
    if (a.residual != nullptr) {
      const T* residual = static_cast<const T*>(a.residual) + row * size;
      T* sum = static_cast<T*>(a.sum) + row * size;
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) store(sum + i, to_float(x[i]) + to_float(residual[i]));
      x = sum;
    }
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < size; ++i) squares += to_float(x[i]) * to_float(x[i]);
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(size) + a.epsilon);
    a.inverse_rms[row] = scale;
    T* y = static_cast<T*>(a.y) + row * size;
#pragma omp simd
    for (int64_t i = 0; i < size; ++i)
      store(y + i, round_to<T>(to_float(x[i]) * scale) * to_float(weight[i]));
  }
}

template <class T>
void backward(const RmsNormKernels::Backward& a, int64_t begin, int64_t end) {
  const int64_t size = a.size;
  const T* weight = static_cast<const T*>(a.weight);
  for (int64_t row = begin; row < end; ++row) {
    const T* x = static_cast<const T*>(a.x) + row * size;
    const T* grad = static_cast<const T*>(a.grad_y) + row * size;
    const float scale = a.inverse_rms[row];
    float dot = 0;
    float* grad_weight = a.grad_weight;
#pragma omp simd reduction(+ : dot)
    for (int64_t i = 0; i < size; ++i) {
      const float normed = to_float(x[i]) * scale, g = to_float(grad[i]);
      dot += g * to_float(weight[i]) * normed;
      grad_weight[i] += g * round_to<T>(normed);
    }
    dot /= static_cast<float>(size);
    T* grad_x = static_cast<T*>(a.grad_x) + row * size;
    if (a.grad_sum != nullptr) {
      const T* grad_sum = static_cast<const T*>(a.grad_sum) + row * size;
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) {
        const float normed = to_float(x[i]) * scale;
        store(grad_x + i,
              scale * (to_float(grad[i]) * to_float(weight[i]) - normed * dot) + to_float(grad_sum[i]));
      }
    } else {
#pragma omp simd
      for (int64_t i = 0; i < size; ++i) {
        const float normed = to_float(x[i]) * scale;
        store(grad_x + i, scale * (to_float(grad[i]) * to_float(weight[i]) - normed * dot));
      }
    }
  }
}

}  // namespace

const RmsNormKernels rms_norm_kernels{forward<float>, forward<Bf16>, backward<float>, backward<Bf16>};

}  // namespace megadlm::ops::MEGADLM_ISA
