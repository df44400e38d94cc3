#include <cstring>

#include "ops/embedding/kernels.h"
#include "ops/simd/vectors.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

template <class Format>
void backward(const EmbeddingKernels::Backward& a, int64_t begin, int64_t end) {
  using T = typename Format::Element;
  const T* grad = static_cast<const T*>(a.grad_y);
  for (int64_t row = begin; row < end; ++row) {
    T* to = static_cast<T*>(a.grad_weight) + row * a.size;
    const int64_t first = a.starts[row], last = a.starts[row + 1];
    if (first == last) {
      std::memset(to, 0, a.size * sizeof(T));
      continue;
    }
    for (int64_t i = 0; i < a.size; i += kLanes) {
      Floats sum{};
      for (int64_t k = first; k < last; ++k)
        sum += load_first<Format>(grad + a.positions[k] * a.size + i, a.size - i);
      store_first<Format>(to + i, sum, a.size - i);
    }
  }
}

}  // namespace

const EmbeddingKernels embedding_kernels{backward<F32Format>, backward<Bf16Format>};

}  // namespace megadlm::ops::MEGADLM_ISA
