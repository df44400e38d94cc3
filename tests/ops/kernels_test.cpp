// Each op's kernels against its reference: values and gradients, fp32 and bf16, odd sizes, any thread count.
// The instruction set is the processor's best, or what MEGADLM_ISA says: ctest runs this once for each.

#include "ops/activation/activation.h"
#include "ops/adamw/adamw.h"
#include "ops/adamw/reference.h"
#include "ops/agreement.h"
#include "ops/embedding/embedding.h"
#include "ops/gated_activation/gated_activation.h"
#include "ops/gated_activation/reference.h"
#include "ops/gemm/probe.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/qkv_rotary/qkv_rotary.h"
#include "ops/qkv_rotary/reference.h"
#include "ops/rms_norm/reference.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/simd/isa.h"
#include "support/temporary_folder.h"

namespace megadlm::ops {
namespace {

TEST(RmsNorm, AgreesWithItsReference) {
  for (const int64_t size : {1, 7, 64, 257}) {
    for (const int64_t rows : {1, 5, 300}) {
      const Tensors inputs{normal({rows, size}, 1), normal({size}, 2)};
      const Op op = [](const Tensors& t) { return Tensors{rms_norm(t[0], t[1], 1e-5)}; };
      const Op reference = [](const Tensors& t) { return Tensors{reference::rms_norm(t[0], t[1], 1e-5)}; };
      expect_agreement("rms_norm", op, reference, inputs);
    }
  }
  const Op reference = [](const Tensors& t) { return Tensors{reference::rms_norm(t[0], t[1], 1e-5)}; };
  expect_finite_differences(reference, {normal({3, 5}, 1), normal({5}, 2)});
}

TEST(RmsNorm, WithResidualAgreesWithItsReference) {
  const Tensors inputs{normal({40, 96}, 1), normal({40, 96}, 2), normal({96}, 3)};
  const Op op = [](const Tensors& t) {
    const auto [normed, sum] = add_rms_norm(t[0], t[1], t[2], 1e-5);
    return Tensors{normed, sum};
  };
  const Op reference = [](const Tensors& t) {
    const at::Tensor sum = t[0] + t[1];
    return Tensors{reference::rms_norm(sum, t[2], 1e-5), sum};
  };
  expect_agreement("add_rms_norm", op, reference, inputs);
}

TEST(RmsNorm, RoundsBeforeTheWeightAndSumsInFp32) {
  const at::Tensor x = at::tensor({1., 2., 3., 4.}).to(at::kBFloat16).view({1, 4});
  at::Tensor weight = at::full({4}, 1.1171875, at::kBFloat16);
  const at::Tensor y = rms_norm(x, weight, 1e-6).to(at::kDouble)[0];
  EXPECT_TRUE(y.equal(at::tensor({.408203125, .81640625, 1.21875, 1.6328125}, at::kDouble))) << y;
  weight.requires_grad_(true);
  rms_norm(at::ones({4096, 4}, at::kBFloat16), weight, 1e-6).sum().backward();
  EXPECT_NEAR(weight.grad()[0].item<double>(), 4096, 32);
}

TEST(GatedActivation, AgreesWithItsReference) {
  for (const auto kind : {GateKind::silu, GateKind::gelu}) {
    const Op op = [=](const Tensors& t) { return Tensors{gated_activation(t[0], kind)}; };
    const Op reference = [=](const Tensors& t) { return Tensors{reference::gated_activation(t[0], kind)}; };
    for (const int64_t size : {2, 14, 400})
      expect_agreement("gated_activation", op, reference, {normal({33, size}, 4) * 4});
    expect_finite_differences(reference, {normal({2, 6}, 5)});
  }
}

TEST(GatedActivation, IsRightFarFromZero) {
  const at::Tensor x =
      at::tensor({-200.f, -90.f, -30.f, 30.f, 90.f, 200.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f}).view({1, 12});
  const at::Tensor expected = at::silu(x.slice(1, 0, 6));
  EXPECT_TRUE(gated_activation(x, GateKind::silu).allclose(expected, 1e-5, 1e-12));
}

TEST(QkvRotary, AgreesWithItsReference) {
  struct Case {
    int64_t heads, groups, size, channels;
    bool norm, positions;
  };
  for (const Case& c :
       {Case{4, 2, 8, 8, true, false}, Case{6, 2, 10, 4, true, true}, Case{3, 3, 64, 64, false, false},
        Case{4, 1, 32, 0, false, false}, Case{2, 2, 16, 0, true, false}}) {
    const auto options_for = [c](const Tensors& t) {
      QkvRotary options;
      options.heads = c.heads;
      options.groups = c.groups;
      options.head_size = c.size;
      options.first_position = 2;
      if (c.channels > 0)
        options.rotary_table = rotary_table(40, c.channels, 10000)
                                   .to(t[0].scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
      if (c.norm) {
        options.query_norm_weight = t[1];
        options.key_norm_weight = t[2];
      }
      if (c.positions) options.positions = (at::arange(2 * 9) * 5).remainder(40).view({2, 9});
      return options;
    };
    const auto flatten = [](const QueryKeyValue& r) { return Tensors{r.query, r.key, r.value}; };
    const Op op = [=](const Tensors& t) { return flatten(qkv_rotary(t[0], options_for(t))); };
    const Op reference = [=](const Tensors& t) {
      return flatten(reference::qkv_rotary(t[0], options_for(t)));
    };
    Tensors inputs{normal({2, 9, (c.heads + 2 * c.groups) * c.size}, 6)};
    if (c.norm) inputs.insert(inputs.end(), {normal({c.size}, 7), normal({c.size}, 8)});
    expect_agreement("qkv_rotary", op, reference, inputs);
    if (c.size <= 10) expect_finite_differences(reference, inputs);
  }
}

TEST(Embedding, AgreesWithAtens) {
  const at::Tensor tokens =
      (at::arange(60, at::kLong).square() % 17).view({4, 15});  // some often, some never
  for (const int64_t size : {1, 7, 64, 100}) {
    const Op op = [&](const Tensors& t) { return Tensors{ops::embedding(tokens, t[0])}; };
    const Op aten = [&](const Tensors& t) { return Tensors{at::embedding(t[0], tokens)}; };
    expect_agreement("embedding", op, aten, {normal({19, size}, 1)});
  }
}

TEST(Embedding, GradientSumsInFp32) {
  at::Tensor weight = at::zeros({6, 3}, at::kBFloat16).requires_grad_(true);
  const at::Tensor tokens = at::full({4096}, 2, at::kLong);
  ops::embedding(tokens, weight).sum().backward();
  EXPECT_EQ(weight.grad()[2][0].item<double>(), 4096);
  EXPECT_EQ(weight.grad()[1][0].item<double>(), 0);
  const Op op = [](const Tensors& t) {
    return Tensors{ops::embedding((at::arange(35) * 4).remainder(9).view({5, 7}), t[0])};
  };
  const Op reference = [](const Tensors& t) {
    return Tensors{at::embedding(t[0], (at::arange(35) * 4).remainder(9).view({5, 7}))};
  };
  expect_agreement("embedding", op, reference, {normal({9, 5}, 3)});
}

TEST(AdamWKernel, AgreesWithItsReference) {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const int64_t count : {1, 100, 70001}) {
      const at::Tensor master = normal({count}, 1).to(at::kFloat), gradient = normal({count}, 2).to(type);
      Tensors a{master.clone(), at::zeros({count}), at::zeros({count}), at::empty({count}, at::kBFloat16)};
      Tensors b{master.clone(), at::zeros({count}), at::zeros({count}), at::empty({count}, at::kBFloat16)};
      for (int64_t i = 1; i <= 3; ++i) {
        const AdamWStep step{1e-2, 0.9, 0.95, 1e-8, 0.1, i, 0.5f};
        adamw_step(a[0], a[1], a[2], gradient, &a[3], step);
        reference::adamw_step(b[0], b[1], b[2], gradient, &b[3], step);
      }
      for (size_t i = 0; i < 3; ++i) EXPECT_LT(difference(a[i], b[i]), 1e-5);
      EXPECT_TRUE(a[3].equal(a[0].to(at::kBFloat16)));
      EXPECT_NEAR(squared_norm(gradient) / reference::squared_norm(gradient), 1, 1e-5);
    }
  }
}

TEST(SquaredNorm, ShowsWhatIsNotFinite) {
  at::Tensor values = at::ones({100000});
  EXPECT_EQ(squared_norm(values), 100000);
  values[77777] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(squared_norm(values)));
  values[77777] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(squared_norm(values)));
  at::Tensor rounded = at::ones({1000}, at::kBFloat16);
  rounded[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(squared_norm(rounded)));
}

TEST(LayerNorm, AgreesWithTheTextbookAndSumsInFp32) {
  const Op op = [](const Tensors& t) {
    const auto [normed, sum] = add_layer_norm(t[0], t[1], t[2], t[3], 1e-5);
    return Tensors{normed, sum};
  };
  const Op textbook = [](const Tensors& t) {
    const at::Tensor sum = t[0] + t[1], centred = sum - sum.mean(-1, true);
    return Tensors{centred * at::rsqrt(centred.square().mean(-1, true) + 1e-5) * t[2] + t[3], sum};
  };
  expect_agreement("layer_norm", op, textbook,
                   {normal({40, 33}, 1), normal({40, 33}, 2), normal({33}, 3), normal({33}, 4)});
  at::Tensor bias = at::zeros({4}, at::kBFloat16).requires_grad_(true);
  layer_norm(normal({4096, 4}, 5).to(at::kBFloat16), at::ones({4}, at::kBFloat16), bias, 1e-5)
      .sum()
      .backward();
  EXPECT_EQ(bias.grad()[0].item<double>(), 4096);
}

TEST(Activation, AgreesWithTheTextbook) {
  const Op op = [](const Tensors& t) { return Tensors{ops::gelu(t[0]), squared_relu(t[0])}; };
  const Op textbook = [](const Tensors& t) {
    return Tensors{0.5 * t[0] * (1 + at::erf(t[0] / std::sqrt(2.0))), t[0].clamp_min(0).square()};
  };
  expect_agreement("activation", op, textbook, {normal({20, 17}, 3)}, false);
}

TEST(QkvRotary, RefusesPositionsWithoutAngles) {
  QkvRotary options;
  options.heads = options.groups = 1;
  options.head_size = 4;
  options.rotary_table = rotary_table(8, 4, 10000);
  const at::Tensor qkv = at::ones({1, 3, 12});
  const auto error = [&] { return megadlm::testing::error_of([&] { qkv_rotary(qkv, options); }); };
  EXPECT_EQ(error(), "");
  options.first_position = 6;
  EXPECT_NE(error().find("6 to 8"), std::string::npos);
  options.positions = at::tensor({0, -1, 2}, at::kLong).view({1, 3});
  EXPECT_NE(error().find("-1"), std::string::npos);
  options.positions = at::Tensor();
  options.first_position = 0;
  options.rotary_table = rotary_table(8, 6, 10000);
  EXPECT_NE(error().find("6 rotated channels"), std::string::npos);
  options.rotary_table = rotary_table(8, 4, 10000);
  options.query_norm_weight = options.key_norm_weight = at::ones({5});
  EXPECT_NE(error().find("head size"), std::string::npos);
}

TEST(AdamWKernel, RefusesOtherShapesAndKeepsSmallRests) {
  at::Tensor master = at::ones({10}), moment = at::zeros({10}), small = at::zeros({9});
  const AdamWStep step{1e-2, 0.9, 0.9999, 1e-8, 0, 1, 1.0f};
  EXPECT_NE(
      megadlm::testing::error_of([&] { adamw_step(master, small, moment, at::ones({10}), nullptr, step); }),
      "");
  at::Tensor square = at::zeros({10});
  adamw_step(master, moment, square, at::ones({10}), nullptr, step);
  EXPECT_NEAR(square[0].item<double>() / 1e-4, 1, 1e-6);
}

TEST(Measures, ArePlausible) {
  EXPECT_GT(measure_gemm_flops(at::kFloat, 64), 1e6);
  EXPECT_GT(measure_copy_bandwidth(), 1e6);
}

TEST(Isa, TheBestIsAvailable) {
  const auto isas = available_isas();
  EXPECT_EQ(isas.front(), Isa::portable);
  EXPECT_NE(std::find(isas.begin(), isas.end(), current_isa()), isas.end());
}

}  // namespace
}  // namespace megadlm::ops
