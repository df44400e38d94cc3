#include "ops/adamw/kernels.h"
#include "ops/simd/vector_math.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

template <class T, bool with_copy>
void update(const AdamWKernels::Step& a, int64_t begin, int64_t end) {
  float* __restrict master = a.master;
  float* __restrict exp_avg = a.exp_avg;
  float* __restrict exp_avg_sq = a.exp_avg_sq;
  const T* __restrict gradient = static_cast<const T*>(a.gradient);
  Bf16* __restrict copy = static_cast<Bf16*>(a.compute_copy);
  const AdamWKernels::Step s = a;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const float g = to_float(gradient[i]) * s.gradient_scale;
    const float first = exp_avg[i] * s.beta1 + s.rest1 * g;
    const float second = exp_avg_sq[i] * s.beta2 + s.rest2 * g * g;
    const float root = std::sqrt(second) * s.inverse_correction + s.epsilon;
    const float weight = master[i] * s.decay - s.step_size * first / root;
    exp_avg[i] = first;
    exp_avg_sq[i] = second;
    master[i] = weight;
    if constexpr (with_copy) store(copy + i, weight);
  }
}

template <class T>
void step(const AdamWKernels::Step& a, int64_t begin, int64_t end) {
  if (a.compute_copy != nullptr) {
    update<T, true>(a, begin, end);
  } else {
    update<T, false>(a, begin, end);
  }
}

template <class T>
void add(float* sum, const void* data, int64_t begin, int64_t end) {
  const T* values = static_cast<const T*>(data);
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) sum[i] += to_float(values[i]);
}

/// fp32 within short stretches, double over them.
template <class T>
double squares(const void* data, int64_t begin, int64_t end) {
  constexpr int64_t kStretch = 1024;
  const T* values = static_cast<const T*>(data);
  double total = 0;
  for (int64_t start = begin; start < end; start += kStretch) {
    const int64_t stop = start + kStretch < end ? start + kStretch : end;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = start; i < stop; ++i) sum += to_float(values[i]) * to_float(values[i]);
    total += sum;
  }
  return total;
}

}  // namespace

const AdamWKernels adamw_kernels{step<float>, step<Bf16>,     add<float>,
                                 add<Bf16>,   squares<float>, squares<Bf16>};

}  // namespace megadlm::ops::MEGADLM_ISA
