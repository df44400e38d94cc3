#include "ops/gemm/probe.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "ops/gemm/gemm.h"

namespace megadlm::ops {
namespace {

constexpr double kGemmSeconds = 0.4, kCopySeconds = 0.3;

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

double measure_gemm_flops(at::ScalarType type, int64_t size, at::Device device) {
  const at::NoGradGuard no_gradient;
  double flops = 0;
  for (int64_t side = std::min<int64_t>(size, 256); side <= size; side *= 2) {
    const auto options = at::TensorOptions(device).dtype(type);
    const at::Tensor left = at::ones({side, side}, options), right = at::ones({side, 3 * side}, options);
    const int calls =
        device.is_cpu() ? 1 : 20;  // a device is given work ahead; reading a number waits for it
    const auto work = [&] {
      at::Tensor result;
      for (int i = 0; i < calls; ++i) result = matrix_product(left, right);
      if (!device.is_cpu()) result[0][0].item<float>();
    };
    work();
    const bool largest = 2 * side > size;
    const double seconds = least_seconds(largest ? kGemmSeconds : kGemmSeconds / 32, work) / calls;
    const double wide = static_cast<double>(side);
    flops = std::max(flops, 6 * wide * wide * wide / seconds);
    if (8 * seconds > kGemmSeconds) break;  // the next size takes eight times as long
  }
  return flops;
}

double measure_copy_bandwidth() {
  constexpr int64_t kBytes = int64_t{128} << 20;  // beyond the caches
  const at::NoGradGuard no_gradient;
  const at::Tensor source = at::ones({kBytes}, at::kByte);
  at::Tensor target = source.clone();
  return 2.0 * kBytes / least_seconds(kCopySeconds, [&] { target.copy_(source); });
}

}  // namespace megadlm::ops
