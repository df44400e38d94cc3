#include "ops/gated_activation/kernels.h"
#include "ops/simd/vectors.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

/// An activation's value and derivative.
struct Gate {
  Floats value, derivative;
};

struct Silu {
  static Gate at(Floats x) {
    const Floats sigmoid = reciprocal(broadcast(1.0f) + exp2(larger(x, broadcast(-87.0f)) * -kLog2E));
    return {x * sigmoid, sigmoid * multiply_add(x, broadcast(1.0f) - sigmoid, broadcast(1.0f))};
  }
};

/// The exact form, with the error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26).
struct Gelu {
  static Gate at(Floats x) {
    const Floats scaled = x * 0.70710678f, size = larger(scaled, -scaled);
    const Floats bell = exp2(x * x * (-0.5f * kLog2E));
    const Floats t = reciprocal(multiply_add(size, broadcast(0.3275911f), broadcast(1.0f)));
    Floats poly = broadcast(1.061405429f);
    poly = multiply_add(poly, t, broadcast(-1.453152027f));
    poly = multiply_add(poly, t, broadcast(1.421413741f));
    poly = multiply_add(poly, t, broadcast(-0.284496736f));
    poly = multiply_add(poly, t, broadcast(0.254829592f));
    const Floats rest = poly * t * bell;  // 1 - erf(size)
    const Floats share = x < 0.0f ? 0.5f * rest : 1.0f - 0.5f * rest;
    return {x * share, multiply_add(x * 0.39894228f, bell, share)};
  }
};

template <class Format, class Activation>
void forward(const GatedActivationKernels::Forward& a, int64_t begin, int64_t end) {
  using T = typename Format::Element;
  for (int64_t row = begin; row < end; ++row) {
    const T* gate = static_cast<const T*>(a.x) + row * 2 * a.size;
    const T* up = gate + a.size;
    T* y = static_cast<T*>(a.y) + row * a.size;
    for (int64_t i = 0; i < a.size; i += kLanes) {
      const int64_t count = a.size - i;
      const Floats value = Activation::at(load_first<Format>(gate + i, count)).value;
      store_first<Format>(y + i, value * load_first<Format>(up + i, count), count);
    }
  }
}

template <class Format, class Activation>
void backward(const GatedActivationKernels::Backward& a, int64_t begin, int64_t end) {
  using T = typename Format::Element;
  for (int64_t row = begin; row < end; ++row) {
    const T* gate = static_cast<const T*>(a.x) + row * 2 * a.size;
    const T* up = gate + a.size;
    const T* grad = static_cast<const T*>(a.grad_y) + row * a.size;
    T* grad_gate = static_cast<T*>(a.grad_x) + row * 2 * a.size;
    T* grad_up = grad_gate + a.size;
    for (int64_t i = 0; i < a.size; i += kLanes) {
      const int64_t count = a.size - i;
      const Gate at = Activation::at(load_first<Format>(gate + i, count));
      const Floats g = load_first<Format>(grad + i, count);
      store_first<Format>(grad_gate + i, g * load_first<Format>(up + i, count) * at.derivative, count);
      store_first<Format>(grad_up + i, g * at.value, count);
    }
  }
}

}  // namespace

const GatedActivationKernels gated_activation_kernels{
    {forward<F32Format, Silu>, forward<F32Format, Gelu>},
    {forward<Bf16Format, Silu>, forward<Bf16Format, Gelu>},
    {backward<F32Format, Silu>, backward<F32Format, Gelu>},
    {backward<Bf16Format, Silu>, backward<Bf16Format, Gelu>}};

}  // namespace megadlm::ops::MEGADLM_ISA
