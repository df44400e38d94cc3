#include "ops/gemm/gemm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace megadlm::ops {

namespace {

/// The least seconds that a call of `work` takes, of at most 12 within the budget.
template <class Work>
double least_seconds(double budget, const Work& work) {
  double least = std::numeric_limits<double>::infinity(), spent = 0;
  for (int tries = 0; tries < 12 && spent < budget; ++tries) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = std::min(least, seconds);
    spent += seconds;
  }
  return least;
}

}  // namespace

double measure_gemm_flops(at::ScalarType type, int64_t size) {
  const at::NoGradGuard no_gradient;
  const at::Tensor left = at::ones({size, size}, type), right = at::ones({size, 3 * size}, type);
  at::Tensor result = at::mm(left, right);
  const double wide = static_cast<double>(size);
  return 6 * wide * wide * wide / least_seconds(0.4, [&] { at::mm_out(result, left, right); });
}

double measure_copy_bandwidth() {
  constexpr int64_t kBytes = int64_t{128} << 20;  // beyond the caches
  const at::NoGradGuard no_gradient;
  const at::Tensor source = at::ones({kBytes}, at::kByte);
  at::Tensor target = source.clone();
  return 2.0 * kBytes / least_seconds(0.3, [&] { target.copy_(source); });
}

}  // namespace megadlm::ops
