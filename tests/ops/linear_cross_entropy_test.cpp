// The output layer's fused cross-entropy against its reference, with and without gradient, in chunks or not.

#include "ops/linear_cross_entropy/linear_cross_entropy.h"

#include <tuple>

#include "ops/agreement.h"
#include "ops/linear_cross_entropy/reference.h"
#include "support/temporary_folder.h"

namespace megadlm::ops {
namespace {

TEST(LinearCrossEntropy, AgreesWithItsReference) {
  for (const auto& [rows, vocabulary, valid] :
       {std::tuple{1, 5, 5}, std::tuple{70, 130, 117}, std::tuple{300, 1000, 1000}}) {
    const at::Tensor targets = (at::arange(rows) * 31).remainder(valid);
    const at::Tensor weights = normal({rows}, 9).abs();
    const auto count = static_cast<int64_t>(valid);
    const Op op = [=](const Tensors& t) {
      return Tensors{linear_cross_entropy(t[0], t[1], targets, weights.to(at::kFloat), count)};
    };
    const Op reference = [=](const Tensors& t) {
      return Tensors{reference::linear_cross_entropy(t[0], t[1], targets, weights, count)};
    };
    expect_agreement("linear_cross_entropy", op, reference,
                     {normal({rows, 24}, 10), normal({vocabulary, 24}, 11)}, false);
  }
}

TEST(LinearCrossEntropy, RowsAgreeWithTheReference) {
  // 200,000 columns make chunks of 128 rows, so 130 rows are two.
  for (const auto& [rows, vocabulary, valid] :
       {std::tuple{0, 5, 5}, std::tuple{70, 130, 117}, std::tuple{130, 200000, 199999}}) {
    const at::Tensor targets = (at::arange(rows) * 31).remainder(valid);
    const at::Tensor hidden = normal({rows, 8}, 10), weight = normal({vocabulary, 8}, 11);
    for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-6}, std::pair{at::kFloat, 1e-5},
                                          std::pair{at::kHalf, 1e-2}, std::pair{at::kBFloat16, 2e-2}}) {
      const at::Tensor typed = hidden.to(type), typed_weight = weight.to(type).requires_grad_(true);
      const at::Tensor got = linear_cross_entropy_rows(typed, typed_weight, targets, valid);
      ASSERT_EQ(got.scalar_type(), at::kFloat);
      ASSERT_EQ(got.size(0), rows);
      EXPECT_FALSE(got.requires_grad());
      if (rows == 0) continue;
      const at::Tensor expected = reference::linear_cross_entropy_rows(
          typed.to(at::kDouble), typed_weight.detach().to(at::kDouble), targets, valid);
      EXPECT_LT(difference(got, expected), tolerance) << c10::toString(type) << " " << rows << " rows";
    }
  }
}

TEST(LinearCrossEntropy, RefusesArgumentsThatDoNotFit) {
  const at::Tensor hidden = at::ones({2, 4}), weight = at::ones({6, 4}), targets = at::zeros({2}, at::kLong);
  const auto error = [](const auto& call) { return megadlm::testing::error_of(call); };
  EXPECT_NE(error([&] { linear_cross_entropy(hidden, weight, targets, at::ones({3}), 6); }), "");
  EXPECT_NE(error([&] { linear_cross_entropy_rows(hidden, weight, targets.slice(0, 0, 1), 6); }), "");
  EXPECT_NE(error([&] { linear_cross_entropy_rows(hidden, weight, targets, 7); }).find("7 valid"),
            std::string::npos);
}

TEST(LinearCrossEntropy, ChunksDoNotChangeTheResult) {
  // 200,000 columns make chunks of 128 rows, so 300 rows are three. A GEMM whose sums run over so many
  // columns is itself off by some 3e-4 in fp32 (measured for ATen's).
  const at::Tensor hidden = normal({300, 4}, 12).to(at::kFloat),
                   weight = normal({200000, 4}, 13).to(at::kFloat);
  const at::Tensor targets = at::arange(300) * 600, weights = at::ones({300});
  const Op op = [&](const Tensors& t) {
    return Tensors{linear_cross_entropy(t[0], t[1], targets, weights, 200000)};
  };
  const Op reference = [&](const Tensors& t) {
    return Tensors{reference::linear_cross_entropy(t[0], t[1], targets, weights, 200000)};
  };
  const Tensors got = run(op, {hidden, weight}),
                expected = run(reference, {hidden.to(at::kDouble), weight.to(at::kDouble)});
  for (size_t i = 0; i < got.size(); ++i) EXPECT_LT(difference(got[i], expected[i]), 1e-3) << i;
}

TEST(LinearCrossEntropy, EmptyRowsAndBadTargets) {
  at::Tensor weight = normal({10, 4}, 1).to(at::kFloat).requires_grad_(true);
  const at::Tensor loss =
      linear_cross_entropy(at::empty({0, 4}), weight, at::empty({0}, at::kLong), at::empty({0}), 10);
  EXPECT_EQ(loss.item<float>(), 0);
  loss.backward();
  EXPECT_EQ(weight.grad().abs().sum().item<float>(), 0);
  EXPECT_NE(megadlm::testing::error_of([&] {
              linear_cross_entropy(at::ones({1, 4}), weight, at::full({1}, 10, at::kLong), at::ones({1}), 10);
            }).find("10"),
            std::string::npos);
}

}  // namespace
}  // namespace megadlm::ops
