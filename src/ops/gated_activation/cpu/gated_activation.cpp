#include "ops/gated_activation/kernels.h"
#include "ops/simd/vector_math.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

/// An activation's value and derivative.
struct Silu {
  static inline float value(float x) { return x * sigmoid(x); }
  static inline float derivative(float x) {
    const float s = sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
  }
};
/// Error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26).
inline float error_function(float x) {
  const float size = std::fabs(x), t = 1.0f / (1.0f + 0.3275911f * size);
  float poly = 1.061405429f;
  poly = poly * t - 1.453152027f;
  poly = poly * t + 1.421413741f;
  poly = poly * t - 0.284496736f;
  poly = poly * t + 0.254829592f;
  return std::copysign(1.0f - poly * t * fast_exp(-x * x), x);
}
struct Gelu {
  static inline float value(float x) { return 0.5f * x * (1.0f + error_function(x * 0.70710678f)); }
  static inline float derivative(float x) {
    return 0.5f * (1.0f + error_function(x * 0.70710678f)) + x * 0.39894228f * fast_exp(-0.5f * x * x);
  }
};

template <class T, class Gate>
void forward(const GatedActivationKernels::Forward& a, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const T* gate = static_cast<const T*>(a.x) + row * 2 * a.size;
    const T* up = gate + a.size;
    T* y = static_cast<T*>(a.y) + row * a.size;
#pragma omp simd
    for (int64_t i = 0; i < a.size; ++i) store(y + i, Gate::value(to_float(gate[i])) * to_float(up[i]));
  }
}

template <class T, class Gate>
void backward(const GatedActivationKernels::Backward& a, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const T* gate = static_cast<const T*>(a.x) + row * 2 * a.size;
    const T* up = gate + a.size;
    const T* grad = static_cast<const T*>(a.grad_y) + row * a.size;
    T* grad_gate = static_cast<T*>(a.grad_x) + row * 2 * a.size;
    T* grad_up = grad_gate + a.size;
#pragma omp simd
    for (int64_t i = 0; i < a.size; ++i) {
      const float x = to_float(gate[i]), g = to_float(grad[i]);
      store(grad_gate + i, g * to_float(up[i]) * Gate::derivative(x));
      store(grad_up + i, g * Gate::value(x));
    }
  }
}

}  // namespace

const GatedActivationKernels gated_activation_kernels{{forward<float, Silu>, forward<float, Gelu>},
                                                      {forward<Bf16, Silu>, forward<Bf16, Gelu>},
                                                      {backward<float, Silu>, backward<float, Gelu>},
                                                      {backward<Bf16, Silu>, backward<Bf16, Gelu>}};

}  // namespace megadlm::ops::MEGADLM_ISA
