#include "ops/linear_cross_entropy/kernels.h"
#include "ops/simd/vector_math.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

/// Sum of e^(logit - largest): fp32 within short stretches, double over them, since vocabularies are long.
template <class T>
float exponential_sum(const T* logits, int64_t columns, float largest) {
  constexpr int64_t kStretch = 2048;
  double total = 0;
  for (int64_t start = 0; start < columns; start += kStretch) {
    const int64_t stop = start + kStretch < columns ? start + kStretch : columns;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = start; i < stop; ++i) sum += fast_exp(to_float(logits[i]) - largest);
    total += sum;
  }
  return static_cast<float>(total);
}

template <class T, bool with_gradient>
void rows(const CrossEntropyKernels::Rows& a, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    T* logits = static_cast<T*>(a.logits) + row * a.columns;
    float largest = -INFINITY;
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < a.columns; ++i) {
      const float value = to_float(logits[i]);
      largest = value > largest ? value : largest;
    }
    const float sum = exponential_sum(logits, a.columns, largest);
    const int64_t target = a.targets[row];
    const float at_target = to_float(logits[target]);
    a.losses[row] = largest + std::log(sum) - at_target;
    if constexpr (with_gradient) {
      const float weight = a.weights[row], scale = weight / sum;
      const float at_target_gradient = fast_exp(at_target - largest) * scale - weight;
#pragma omp simd
      for (int64_t i = 0; i < a.columns; ++i)
        store(logits + i, fast_exp(to_float(logits[i]) - largest) * scale);
      store(logits + target, at_target_gradient);
    }
  }
}

}  // namespace

const CrossEntropyKernels cross_entropy_kernels{rows<float, false>, rows<Bf16, false>, rows<float, true>,
                                                rows<Bf16, true>};

}  // namespace megadlm::ops::MEGADLM_ISA
