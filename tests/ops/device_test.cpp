// Each op with CUDA kernels: the device's values and gradients against the processor's. Skipped without a
// device.

#include "ops/adamw/adamw.h"
#include "ops/agreement.h"
#include "ops/attention/attention.h"
#include "ops/gated_activation/gated_activation.h"
#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/qkv_rotary/qkv_rotary.h"
#include "ops/rms_norm/rms_norm.h"

namespace megadlm::ops {
namespace {

class Device : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "there is no CUDA device, or the program is built without CUDA";
  }

  static Tensors on(const Tensors& tensors, at::Device device) {
    Tensors moved;
    for (const at::Tensor& tensor : tensors) moved.push_back(tensor.to(device));
    return moved;
  }

  static void expect_same(const char* name, const Op& op, const Tensors& inputs) {
    for (const auto& [type, tolerance] : {std::pair{at::kFloat, 1e-5}, std::pair{at::kBFloat16, 2.5e-2}}) {
      Tensors typed;
      for (const at::Tensor& input : inputs)
        typed.push_back(at::isFloatingType(input.scalar_type()) ? input.to(type) : input);
      const Op there = [&](const Tensors& t) { return on(op(on(t, at::kCUDA)), at::kCPU); };
      const Tensors got = run(there, typed), expected = run(op, typed);
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_LT(difference(got[i], expected[i]), tolerance)
            << name << " " << c10::toString(type) << " " << i;
    }
  }
};

TEST_F(Device, RmsNorm) {
  expect_same("rms_norm",
              [](const Tensors& t) {
                const auto [normed, sum] = add_rms_norm(t[0], t[1], t[2], 1e-5);
                return Tensors{normed, sum, rms_norm(t[0], t[2], 1e-5)};
              },
              {normal({50, 96}, 1), normal({50, 96}, 2), normal({96}, 3)});
}

TEST_F(Device, GatedActivation) {
  for (const GateKind kind : {GateKind::silu, GateKind::gelu})
    expect_same("gated_activation", [&](const Tensors& t) { return Tensors{gated_activation(t[0], kind)}; },
                {normal({33, 130}, 1)});
}

TEST_F(Device, QkvRotary) {
  const Op op = [](const Tensors& t) {
    QkvRotary options;
    options.heads = 4;
    options.groups = 2;
    options.head_size = 40;
    options.rotary_table = rotary_table(64, 32, 10000).to(t[0].device());
    options.query_norm_weight = t[1];
    options.key_norm_weight = t[2];
    const auto [query, key, value] = qkv_rotary(t[0], options);
    return Tensors{query, key, value};
  };
  expect_same("qkv_rotary", op, {normal({2, 50, 320}, 1), normal({40}, 2), normal({40}, 3)});
}

TEST_F(Device, Attention) {
  for (const auto kind : {Visibility::Kind::full, Visibility::Kind::causal})
    expect_same("attention",
                [&](const Tensors& t) {
                  return Tensors{attention(t[0], t[1], t[2], {kind, 0, {}}, 0.2)};
                },
                {normal({2, 70, 4, 32}, 1), normal({2, 70, 2, 32}, 2), normal({2, 70, 2, 32}, 3)});
}

TEST_F(Device, LinearCrossEntropy) {
  const Op op = [](const Tensors& t) {
    const at::Tensor targets = (at::arange(40, at::kLong) * 7 % 300).to(t[0].device());
    const at::Tensor weights = (at::arange(40, at::kFloat) / 40).to(t[0].device());
    return Tensors{linear_cross_entropy(t[0], t[1], targets, weights, 300),
                   linear_cross_entropy_rows(t[0], t[1], targets, 300)};
  };
  expect_same("linear_cross_entropy", op, {normal({40, 64}, 1), normal({320, 64}, 2)});
}

TEST_F(Device, AdamW) {
  const auto update = [](at::Device device) {
    at::Tensor master = normal({1000}, 1).to(at::kFloat).to(device), first = at::zeros_like(master),
               second = at::zeros_like(master), copy = master.to(at::kBFloat16);
    const at::Tensor gradient = normal({1000}, 2).to(at::kBFloat16).to(device);
    for (int64_t step = 1; step <= 3; ++step)
      adamw_step(master, first, second, gradient, &copy, {1e-2, 0.9, 0.95, 1e-8, 0.1, step, 0.5f});
    return Tensors{master.cpu(), copy.cpu()};
  };
  const Tensors there = update(at::kCUDA), here = update(at::kCPU);
  EXPECT_LT(difference(there[0], here[0]), 1e-6);
  EXPECT_LT(difference(there[1], here[1]), 1e-2);
}

}  // namespace
}  // namespace megadlm::ops
