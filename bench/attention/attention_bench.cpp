// Attention here beside ATen's scaled_dot_product_attention: forward, and forward with backward, bf16.
// attention_bench [head size, length...]: prints a table on standard error and a JSON array on standard
// output.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <malloc.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "ops/attention/attention.h"
#include "ops/attention/reference.h"
#include "ops/gemm/probe.h"
#include "turns.h"

namespace megadlm::bench {
namespace {

struct Case {
  const char* name;
  ops::Visibility::Kind kind;
  int64_t channels, length, heads, groups;
};

/// Tokens of a case: enough work to time, little enough to wait for.
constexpr int64_t kTokens = 8192;

nlohmann::json measure(const Case& test, at::ScalarType type, double peak) {
  const int64_t batch = std::max<int64_t>(1, kTokens / test.length / (test.length >= 2048 ? 2 : 1));
  const auto make = [&](int64_t heads) {
    return at::randn({batch, test.length, heads, test.channels}).to(type).requires_grad_(true);
  };
  const at::Tensor query = make(test.heads), key = make(test.groups), value = make(test.groups);
  const at::Tensor grad = at::randn(query.sizes()).to(type);
  ops::Visibility visibility;
  visibility.kind = test.kind;
  visibility.block_size = 64;
  const double scale = 1 / std::sqrt(static_cast<double>(test.channels));
  using Attention =
      at::Tensor (*)(const at::Tensor&, const at::Tensor&, const at::Tensor&, const ops::Visibility&, double);
  const Attention here = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const ops::Visibility& sees,
                            double factor) { return ops::attention(q, k, v, sees, factor); };
  const auto forward = [&](Attention attention) {
    return std::function<void()>([&, attention] {
      const at::NoGradGuard no_gradient;
      attention(query, key, value, visibility, scale);
    });
  };
  const auto both = [&](Attention attention) {
    return std::function<void()>([&, attention] {
      attention(query, key, value, visibility, scale).backward(grad);
      for (const at::Tensor& tensor : {query, key, value}) tensor.mutable_grad() = at::Tensor();
    });
  };
  const auto seconds = take_turns(
      {forward(here), forward(ops::reference::attention), both(here), both(ops::reference::attention)}, 5);
  const double pairs = static_cast<double>(test.length) * static_cast<double>(test.length) *
                       (test.kind == ops::Visibility::Kind::full ? 1.0 : 0.5);
  const double flops = 4 * pairs * static_cast<double>(batch * test.heads * test.channels);
  fmt::print(
      stderr,
      "{:12} {:5} d {:3} length {:4} heads {:2}/{:2}  forward {:6.1f} GFLOP/s ({:4.1f} %)  {:5.2f} x   "
      "with backward {:6.1f} GFLOP/s ({:4.1f} %)  {:5.2f} x\n",
      test.name, type == at::kFloat ? "fp32" : "bf16", test.channels, test.length, test.heads, test.groups,
      flops / seconds[0] / 1e9, 100 * flops / seconds[0] / peak, seconds[1] / seconds[0],
      3.5 * flops / seconds[2] / 1e9, 350 * flops / seconds[2] / peak, seconds[3] / seconds[2]);
  return {{"visibility", test.name},
          {"type", type == at::kFloat ? "fp32" : "bf16"},
          {"head_size", test.channels},
          {"length", test.length},
          {"heads", test.heads},
          {"groups", test.groups},
          {"forward_gflops", flops / seconds[0] / 1e9},
          {"forward_ratio", seconds[1] / seconds[0]},
          {"both_gflops", 3.5 * flops / seconds[2] / 1e9},
          {"both_ratio", seconds[3] / seconds[2]}};
}

}  // namespace
}  // namespace megadlm::bench

int main(int count, char** arguments) {
  using megadlm::bench::Case;
  using Kind = megadlm::ops::Visibility::Kind;
  mallopt(M_MMAP_THRESHOLD, INT_MAX);  // as the program does
  mallopt(M_TRIM_THRESHOLD, -1);
  const bool quick = count > 1 && std::string(arguments[1]) == "--quick";
  const double bf16 = megadlm::ops::measure_gemm_flops(at::kBFloat16, 2048);
  const double fp32 = megadlm::ops::measure_gemm_flops(at::kFloat, 2048);
  fmt::print(stderr, "GEMM peak {:.0f} GFLOP/s in bf16, {:.0f} in fp32\n", bf16 / 1e9, fp32 / 1e9);
  std::vector<Case> cases;
  for (const int64_t channels : {64, 128}) {
    for (const int64_t length :
         quick ? std::vector<int64_t>{512} : std::vector<int64_t>{512, 1024, 2048, 4096})
      cases.push_back({"full", Kind::full, channels, length, 512 / channels, 512 / channels});
  }
  cases.push_back({"full", Kind::full, 64, 512, 9, 3});
  if (!quick) {
    cases.push_back({"causal", Kind::causal, 64, 2048, 8, 8});
    cases.push_back({"block causal", Kind::block_causal, 64, 2048, 8, 8});
    cases.push_back({"full", Kind::full, 32, 512, 8, 8});
    cases.push_back({"full", Kind::full, 256, 512, 2, 2});
  }
  nlohmann::json results = nlohmann::json::array();
  for (const Case& test : cases) results.push_back(megadlm::bench::measure(test, at::kBFloat16, bf16));
  results.push_back(megadlm::bench::measure({"full", Kind::full, 64, 512, 8, 8}, at::kFloat, fp32));
  fmt::print("{}\n", results.dump());
  return 0;
}
