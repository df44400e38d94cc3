// Our own matrix products against ATen's in double, and the linear layer's gradients.

#include "ops/gemm/gemm.h"

#include "ops/agreement.h"
#include "ops/linear/linear.h"

namespace megadlm::ops {
namespace {

/// The same matrix, stored column by column.
at::Tensor by_columns(const at::Tensor& matrix) { return matrix.t().contiguous().t(); }

TEST(KernelProduct, AgreesForEverySizeAndLayout) {
  for (const auto& [type, tolerance] : {std::pair{at::kFloat, 1e-5}, std::pair{at::kBFloat16, 1e-2}}) {
    for (const auto& [rows, depth, columns] :
         {std::array<int64_t, 3>{1, 1, 1}, {7, 33, 65}, {96, 128, 512}, {97, 257, 513}, {200, 700, 70}}) {
      const at::Tensor left = normal({rows, depth}, 1).to(type), right = normal({depth, columns}, 2).to(type);
      const at::Tensor bias = normal({columns}, 3).to(type);
      const at::Tensor exact = at::mm(left.to(at::kDouble), right.to(at::kDouble));
      const at::Tensor plain = kernel_product(left, right);
      EXPECT_LT(difference(plain, exact), tolerance) << rows << " " << depth << " " << columns;
      EXPECT_LT(difference(kernel_product(left, right, bias), exact + bias.to(at::kDouble)), tolerance);
      EXPECT_TRUE(kernel_product(by_columns(left), right).equal(plain));
      EXPECT_TRUE(kernel_product(left, by_columns(right)).equal(plain));
      EXPECT_TRUE(kernel_product(by_columns(left), by_columns(right)).equal(plain));
      at::set_num_threads(1);
      EXPECT_TRUE(kernel_product(left, right).equal(plain)) << "depends on the number of threads";
      at::set_num_threads(2);
    }
  }
}

TEST(MatrixProduct, Fp16IsRoundedOnce) {
  const at::Tensor left = normal({5, 300}, 1).to(at::kHalf), right = normal({300, 9}, 2).to(at::kHalf);
  const at::Tensor exact = at::mm(left.to(at::kDouble), right.to(at::kDouble));
  EXPECT_EQ(matrix_product(left, right).scalar_type(), at::kHalf);
  EXPECT_LT(difference(matrix_product(left, right), exact), 6e-4);
}

TEST(Linear, AgreesWithAtens) {
  const Op op = [](const Tensors& t) {
    return Tensors{ops::linear(t[0], t[1], t[2]), ops::linear(t[0], t[1])};
  };
  const Op aten = [](const Tensors& t) {
    return Tensors{at::linear(t[0], t[1], t[2]), at::linear(t[0], t[1])};
  };
  expect_agreement("linear", op, aten, {normal({2, 40, 24}, 1), normal({18, 24}, 2), normal({18}, 3)}, false);
}

TEST(Linear, MakesItsInputAgainInsteadOfKeepingIt) {
  int calls = 0;
  const Op kept = [](const Tensors& t) { return Tensors{ops::linear(t[0].square(), t[1])}; };
  const Op again = [&](const Tensors& t) {
    return Tensors{ops::linear(t[0].square(), t[1], {}, [&calls, x = t[0].detach()] {
      ++calls;
      return x.square();
    })};
  };
  const Tensors inputs{normal({3, 5, 8}, 1).to(at::kFloat), normal({6, 8}, 2).to(at::kFloat)};
  const Tensors expected = run(kept, inputs), got = run(again, inputs);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << i;
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace megadlm::ops
