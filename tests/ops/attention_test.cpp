// Attention's kernels against the textbook: every visibility, odd sizes, grouped heads, any thread count.

#include "ops/attention/attention.h"

#include <limits>

#include "ops/agreement.h"
#include "support/temporary_folder.h"

namespace megadlm::ops {
namespace {

using Kind = Visibility::Kind;

constexpr double kScale = 0.3;

bool sees(const Visibility& visibility, int64_t batch, int64_t query, int64_t key) {
  const bool order =
      visibility.kind == Kind::full ||
      (visibility.kind == Kind::causal ? key <= query
                                       : key / visibility.block_size <= query / visibility.block_size);
  if (!order || !visibility.segments.defined()) return order;
  const auto segments = visibility.segments.accessor<int64_t, 2>();
  return segments[batch][query] == segments[batch][key];
}

/// Scores of every pair, in double; queries that see nothing give zeros.
at::Tensor textbook(const Tensors& t, const Visibility& visibility) {
  const int64_t batch = t[0].size(0), queries = t[0].size(1), keys = t[1].size(1);
  const int64_t share = t[0].size(2) / t[1].size(2);
  const at::Tensor key = t[1].repeat_interleave(share, 2), value = t[2].repeat_interleave(share, 2);
  at::Tensor visible = at::zeros({batch, queries, keys}, at::kBool);
  auto mark = visible.accessor<bool, 3>();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t k = 0; k < keys; ++k) mark[b][i][k] = sees(visibility, b, i + keys - queries, k);
  const at::Tensor scores = (at::einsum("bqhd,bkhd->bhqk", {t[0], key}) * kScale)
                                .masked_fill(visible.unsqueeze(1).logical_not(), -1e300);
  const at::Tensor probabilities = at::softmax(scores, 3) * visible.unsqueeze(1);
  return at::einsum("bhqk,bkhd->bqhd", {probabilities, value});
}

void expect_textbook(const char* name, const Visibility& visibility, const Tensors& inputs) {
  const Op op = [&](const Tensors& t) { return Tensors{attention(t[0], t[1], t[2], visibility, kScale)}; };
  const Op reference = [&](const Tensors& t) { return Tensors{textbook(t, visibility)}; };
  expect_agreement(name, op, reference, inputs);
}

Tensors inputs_of(int64_t batch, int64_t queries, int64_t keys, int64_t heads, int64_t groups,
                  int64_t channels) {
  return {normal({batch, queries, heads, channels}, 1), normal({batch, keys, groups, channels}, 2),
          normal({batch, keys, groups, channels}, 3)};
}

/// Documents of growing length one after the other, other cuts in each row.
at::Tensor packed_segments(int64_t batch, int64_t length) {
  at::Tensor segments = at::empty({batch, length}, at::kLong);
  auto segment = segments.accessor<int64_t, 2>();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0, current = 0, left = 3 + b; i < length; ++i, --left) {
      if (left == 0) left = 7 * ++current + 5;
      segment[b][i] = current;
    }
  return segments;
}

TEST(Attention, AgreesForEveryVisibility) {
  for (const int64_t length : {9, 150, 300}) {
    const at::Tensor segments = packed_segments(2, length);
    for (const Visibility& visibility :
         {Visibility{Kind::full, 0, {}}, Visibility{Kind::causal, 0, {}},
          Visibility{Kind::block_causal, 4, {}}, Visibility{Kind::block_causal, 96, {}},
          Visibility{Kind::full, 0, segments}, Visibility{Kind::causal, 0, segments},
          Visibility{Kind::block_causal, 32, segments}}) {
      expect_textbook("attention", visibility, inputs_of(2, length, length, 2, 1, 16));
    }
  }
}

TEST(Attention, AgreesForEverySize) {
  for (const int64_t channels : {1, 7, 32, 40, 64, 80, 96, 128, 256})
    expect_textbook("attention by channels", {}, inputs_of(1, 70, 70, 2, 2, channels));
  for (const int64_t length : {1, 2, 47, 48, 63, 64, 65, 127, 128, 129, 257})
    expect_textbook("attention by length", {}, inputs_of(2, length, length, 3, 1, 24));
}

TEST(Attention, QueriesAreTheLastOfMoreKeys) {
  for (const auto& [queries, keys] : {std::pair{1, 1}, {1, 200}, {3, 130}, {60, 300}}) {
    expect_textbook("more keys", {}, inputs_of(2, queries, keys, 4, 2, 16));
    expect_textbook("more keys, causal", {Kind::causal, 0, {}}, inputs_of(2, queries, keys, 4, 2, 16));
    expect_textbook("more keys, blocks", {Kind::block_causal, 32, {}}, inputs_of(2, queries, keys, 4, 2, 16));
  }
  Visibility segments{Kind::causal, 0, at::zeros({1, 7}, at::kLong)};
  const Tensors inputs = inputs_of(1, 2, 7, 2, 2, 8);
  EXPECT_NE(megadlm::testing::error_of([&] {
              attention(inputs[0], inputs[1], inputs[2], segments, kScale);
            }).find("segments"),
            std::string::npos);
}

TEST(Attention, RowsThatSeeNothingAreZero) {
  const Tensors inputs = inputs_of(1, 5, 3, 2, 2, 8);  // the first two queries come before every key
  const Tensors results = run(
      [](const Tensors& t) {
        return Tensors{attention(t[0].to(at::kFloat), t[1].to(at::kFloat), t[2].to(at::kFloat),
                                 {Kind::causal, 0, {}}, kScale)};
      },
      inputs);
  EXPECT_EQ(results[0].slice(1, 0, 2).abs().max().item<double>(), 0);
  EXPECT_EQ(results[1].slice(1, 0, 2).abs().max().item<double>(), 0);
  for (const at::Tensor& result : results) EXPECT_TRUE(result.isfinite().all().item<bool>());
}

TEST(Attention, LargeScoresStayFiniteAndNotANumberSpreads) {
  Tensors inputs = inputs_of(1, 200, 200, 1, 1, 32);
  inputs[0] = inputs[0] * 1000;
  const Op op = [](const Tensors& t) { return Tensors{attention(t[0], t[1], t[2], {}, kScale)}; };
  Tensors rounded;
  for (const at::Tensor& input : inputs) rounded.push_back(input.to(at::kFloat));
  const Tensors results = run(op, rounded);
  EXPECT_LT(difference(results[0], textbook(inputs, {})), 2e-3);  // scores near 1,000 have an error of 1e-4
  for (const at::Tensor& result : results) EXPECT_TRUE(result.isfinite().all().item<bool>());
  at::Tensor query = normal({1, 200, 1, 32}, 1).to(at::kFloat);
  query[0][77][0][3] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor output =
      attention(query, inputs[1].to(at::kFloat), inputs[2].to(at::kFloat), {}, kScale).squeeze();
  EXPECT_TRUE(output[77].isnan().all().item<bool>());
  EXPECT_EQ(output.isnan().sum().item<int64_t>(), 32);
}

TEST(Attention, MakesItsInputsAgainInsteadOfKeepingThem) {
  Tensors inputs;
  for (const at::Tensor& input : inputs_of(1, 70, 70, 4, 2, 16)) inputs.push_back(input.to(at::kBFloat16));
  const Op kept = [](const Tensors& t) { return Tensors{attention(t[0], t[1], t[2], {}, kScale)}; };
  const Op again = [](const Tensors& t) {
    return Tensors{
        attention(t[0], t[1], t[2], {}, kScale, [q = t[0].detach(), k = t[1].detach(), v = t[2].detach()] {
          return QueryKeyValue{q, k, v};
        })};
  };
  const Tensors expected = run(kept, inputs), got = run(again, inputs);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << i;
}

TEST(Attention, TakesStridedInputs) {
  const at::Tensor packed = normal({2, 70, 6, 16}, 4).to(at::kFloat);
  const auto heads = packed.split(2, 2);
  const at::Tensor whole =
      attention(heads[0].contiguous(), heads[1].contiguous(), heads[2].contiguous(), {}, kScale);
  EXPECT_TRUE(attention(heads[0], heads[1], heads[2], {}, kScale).equal(whole));
  const at::Tensor turned = heads[0].transpose(1, 3).contiguous().transpose(1, 3);  // channels far apart
  EXPECT_TRUE(attention(turned, heads[1], heads[2], {}, kScale).equal(whole));
}

}  // namespace
}  // namespace megadlm::ops
