// Each op beside its composition from ATen's ops, forward and backward, bf16: GB/s of the bytes that must
// move, against the copy bandwidth; matrix products in GFLOP/s against ATen's. Prints a table on standard
// error and a JSON array on standard output.

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <malloc.h>
#include <torch/csrc/autograd/autograd.h>

#include <climits>
#include <nlohmann/json.hpp>

#include "ops/adamw/adamw.h"
#include "ops/adamw/reference.h"
#include "ops/embedding/embedding.h"
#include "ops/gated_activation/gated_activation.h"
#include "ops/gated_activation/reference.h"
#include "ops/gemm/gemm.h"
#include "ops/gemm/probe.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/reference.h"
#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/linear_cross_entropy/reference.h"
#include "ops/qkv_rotary/qkv_rotary.h"
#include "ops/qkv_rotary/reference.h"
#include "ops/rms_norm/reference.h"
#include "ops/rms_norm/rms_norm.h"
#include "turns.h"

namespace megadlm::bench {
namespace {

using Tensors = std::vector<at::Tensor>;
using Op = std::function<Tensors(const Tensors&)>;

constexpr int64_t kTokens = 16384, kHidden = 1024;  // 32 MiB of bf16, beyond the caches
constexpr int kRounds = 7;

at::Tensor random(at::IntArrayRef shape) { return at::randn(shape).to(at::kBFloat16).requires_grad_(true); }

/// Seconds of (forward here, forward there, backward here, backward there).
std::vector<double> measure(const Op& op, const Op& reference, const Tensors& inputs) {
  const auto forward = [&](const Op& which) {
    return std::function<void()>([&] {
      const at::NoGradGuard no_gradient;
      which(inputs);
    });
  };
  std::vector<double> seconds = take_turns({forward(op), forward(reference)}, kRounds);
  const Tensors ours = op(inputs), theirs = reference(inputs);
  Tensors gradients;
  for (const at::Tensor& output : ours)
    gradients.push_back(at::randn(output.sizes()).to(output.scalar_type()));
  const auto backward = [&](const Tensors& outputs) {
    return std::function<void()>([&] {
      torch::autograd::variable_list roots(outputs.begin(), outputs.end());
      torch::autograd::variable_list grads(gradients.begin(), gradients.end());
      torch::autograd::variable_list wanted;
      for (const at::Tensor& input : inputs)
        if (input.requires_grad()) wanted.push_back(input);
      torch::autograd::grad(roots, wanted, grads, true);
    });
  };
  const auto backwards = take_turns({backward(ours), backward(theirs)}, kRounds);
  seconds.insert(seconds.end(), backwards.begin(), backwards.end());
  return seconds;
}

class Report {
 public:
  explicit Report(double bandwidth) : bandwidth_(bandwidth) {}

  /// `elements`: bf16 numbers that forward and backward each must read or write at least.
  void add(const char* name, double forward_elements, double backward_elements,
           const std::vector<double>& seconds) {
    const double forward = 2 * forward_elements / seconds[0], backward = 2 * backward_elements / seconds[2];
    fmt::print(
        stderr,
        "{:22} forward {:5.1f} GB/s ({:3.0f} %) {:5.2f} x   backward {:5.1f} GB/s ({:3.0f} %) {:5.2f} x\n",
        name, forward / 1e9, 100 * forward / bandwidth_, seconds[1] / seconds[0], backward / 1e9,
        100 * backward / bandwidth_, seconds[3] / seconds[2]);
    results_.push_back({{"op", name},
                        {"forward_gb_per_second", forward / 1e9},
                        {"forward_of_copy", forward / bandwidth_},
                        {"forward_ratio", seconds[1] / seconds[0]},
                        {"backward_gb_per_second", backward / 1e9},
                        {"backward_of_copy", backward / bandwidth_},
                        {"backward_ratio", seconds[3] / seconds[2]}});
  }

  /// One pass without gradients, in bytes or FLOPs a second of `unit`.
  void add_single(const std::string& name, const char* unit, double amount, double bound,
                  const std::vector<double>& seconds) {
    const double rate = amount / seconds[0];
    fmt::print(stderr, "{:22} {:7.1f} {} ({:3.0f} %) {:5.2f} x\n", name, rate / 1e9, unit, 100 * rate / bound,
               seconds[1] / seconds[0]);
    results_.push_back({{"op", name},
                        {"unit", unit},
                        {"rate", rate / 1e9},
                        {"of_bound", rate / bound},
                        {"ratio", seconds[1] / seconds[0]}});
  }

  const nlohmann::json& results() const { return results_; }

 private:
  double bandwidth_;
  nlohmann::json results_ = nlohmann::json::array();
};

void norms(Report& report) {
  const double n = kTokens * kHidden;
  const Tensors inputs{random({kTokens, kHidden}), random({kTokens, kHidden}), random({kHidden}),
                       random({kHidden})};
  const auto with_sum = [](const auto& pair) { return Tensors{std::get<0>(pair), std::get<1>(pair)}; };
  report.add("rms_norm + residual", 4 * n, 4 * n,
             measure([&](const Tensors& t) { return with_sum(ops::add_rms_norm(t[0], t[1], t[2], 1e-6)); },
                     [](const Tensors& t) {
                       const at::Tensor sum = t[0] + t[1];
                       return Tensors{ops::reference::rms_norm(sum, t[2], 1e-6), sum};
                     },
                     {inputs[0], inputs[1], inputs[2]}));
  report.add(
      "layer_norm + residual", 4 * n, 4 * n,
      measure([&](const Tensors& t) { return with_sum(ops::add_layer_norm(t[0], t[1], t[2], t[3], 1e-6)); },
              [](const Tensors& t) {
                const at::Tensor sum = t[0] + t[1];
                return Tensors{at::layer_norm(sum, {kHidden}, t[2], t[3], 1e-6), sum};
              },
              inputs));
}

void gates(Report& report) {
  const double n = kTokens * kHidden;
  for (const auto& [name, kind] :
       {std::pair{"swiglu", ops::GateKind::silu}, {"geglu", ops::GateKind::gelu}}) {
    report.add(
        name, 3 * n, 5 * n,
        measure([&](const Tensors& t) { return Tensors{ops::gated_activation(t[0], kind)}; },
                [&](const Tensors& t) { return Tensors{ops::reference::gated_activation(t[0], kind)}; },
                {random({kTokens, 2 * kHidden})}));
  }
}

void rotation(Report& report) {
  ops::QkvRotary options;
  options.heads = options.groups = 8;
  options.head_size = 64;
  options.epsilon = 1e-6;
  options.rotary_table = ops::rotary_table(1024, 64, 10000);
  const double n = kTokens * 3 * 512;
  const auto run = [&](auto function) {
    return [&options, function](const Tensors& t) {
      ops::QkvRotary with = options;
      with.query_norm_weight = t[1];
      with.key_norm_weight = t[2];
      const auto [query, key, value] = function(t[0], with);
      return Tensors{query, key, value};
    };
  };
  report.add("qk-norm + rotary", 2 * n, 3 * n - 512.0 * kTokens,
             measure(run([](const at::Tensor& x, const ops::QkvRotary& o) { return ops::qkv_rotary(x, o); }),
                     run([](const at::Tensor& x, const ops::QkvRotary& o) {
                       return ops::reference::qkv_rotary(x, o);
                     }),
                     {random({kTokens / 1024, 1024, 3 * 512}), random({64}), random({64})}));
}

void vocabulary(Report& report) {
  constexpr int64_t kVocabulary = 50304, kRows = 4096, kSize = 512;
  const at::Tensor tokens = at::randint(kVocabulary, {kRows}, at::kLong),
                   weight = random({kVocabulary, kSize});
  report.add("embedding", 2.0 * kRows * kSize, 1.0 * kRows * kSize + 1.0 * kVocabulary * kSize,
             measure([&](const Tensors& t) { return Tensors{ops::embedding(tokens, t[0])}; },
                     [&](const Tensors& t) { return Tensors{at::embedding(t[0], tokens)}; }, {weight}));
  const at::Tensor hidden = random({kRows / 4, kSize}), targets = tokens.slice(0, 0, kRows / 4);
  const at::Tensor weights = at::rand({kRows / 4});
  const auto step = [&](auto function) {
    return std::function<void()>([&, function] {
      torch::autograd::grad({function(hidden, weight, targets, weights, kVocabulary)}, {hidden, weight});
    });
  };
  const auto seconds =
      take_turns({step(ops::linear_cross_entropy), step(ops::reference::linear_cross_entropy)}, kRounds);
  report.add_single("linear_cross_entropy", "GFLOP/s", 6.0 * (kRows / 4) * kSize * kVocabulary,
                    ops::measure_gemm_flops(at::kBFloat16, 2048), seconds);
}

void optimizer(Report& report, double bandwidth) {
  constexpr int64_t kCount = 1 << 25;
  at::Tensor master = at::randn({kCount}), first = at::zeros({kCount}), second = at::zeros({kCount});
  const at::Tensor gradient = at::randn({kCount}).to(at::kBFloat16);
  at::Tensor copy = master.to(at::kBFloat16);
  const ops::AdamWStep step{1e-3, 0.9, 0.95, 1e-8, 0.1, 10, 1.0f};
  report.add_single(
      "adamw", "GB/s", 28.0 * kCount, bandwidth,
      take_turns({[&] { ops::adamw_step(master, first, second, gradient, &copy, step); },
                  [&] { ops::reference::adamw_step(master, first, second, gradient, &copy, step); }},
                 kRounds));
  report.add_single("squared norm", "GB/s", 2.0 * kCount, bandwidth,
                    take_turns({[&] { ops::squared_norm(gradient); },
                                [&] { gradient.to(at::kFloat).square().sum().item(); }},
                               kRounds));
}

void products(Report& report) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const double peak = ops::measure_gemm_flops(type, 2048);
    const at::Tensor x = at::randn({4096, 512}).to(type), weight = at::randn({1536, 512}).to(type);
    const at::Tensor grad = at::randn({4096, 1536}).to(type);
    const auto name = [&](const char* what) {
      return fmt::format("{} {}", type == at::kFloat ? "fp32" : "bf16", what);
    };
    const double flops = 2.0 * 4096 * 512 * 1536;
    report.add_single(
        name("x W^T"), "GFLOP/s", flops, peak,
        take_turns({[&] { ops::kernel_product(x, weight.t()); }, [&] { at::mm(x, weight.t()); }}, kRounds));
    report.add_single(
        name("dy W"), "GFLOP/s", flops, peak,
        take_turns({[&] { ops::kernel_product(grad, weight); }, [&] { at::mm(grad, weight); }}, kRounds));
    report.add_single(
        name("dy^T x"), "GFLOP/s", flops, peak,
        take_turns({[&] { ops::kernel_product(grad.t(), x); }, [&] { at::mm(grad.t(), x); }}, kRounds));
  }
}

}  // namespace
}  // namespace megadlm::bench

int main() {
  using namespace megadlm;
  mallopt(M_MMAP_THRESHOLD, INT_MAX);  // as the program does
  mallopt(M_TRIM_THRESHOLD, -1);
  const double bandwidth = ops::measure_copy_bandwidth();
  fmt::print(stderr, "copy {:.1f} GB/s\n", bandwidth / 1e9);
  bench::Report report(bandwidth);
  bench::norms(report);
  bench::gates(report);
  bench::rotation(report);
  bench::vocabulary(report);
  bench::optimizer(report, bandwidth);
  bench::products(report);
  fmt::print("{}\n", report.results().dump());
  return 0;
}
