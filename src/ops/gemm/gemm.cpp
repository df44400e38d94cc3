#include "ops/gemm/gemm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>

namespace megadlm::ops {

double measure_gemm_flops(at::ScalarType type, int64_t size) {
  constexpr double kBudgetSeconds = 0.4;
  const at::NoGradGuard no_gradient;
  const at::Tensor left = at::ones({size, size}, type), right = at::ones({size, 3 * size}, type);
  at::Tensor result = at::mm(left, right);
  double best = 0, spent = 0;
  for (int tries = 0; tries < 12 && spent < kBudgetSeconds; ++tries) {
    const auto start = std::chrono::steady_clock::now();
    at::mm_out(result, left, right);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 6.0 * static_cast<double>(size) * size * size / seconds);
    spent += seconds;
  }
  return best;
}

}  // namespace megadlm::ops
