#pragma once

// How an op is held against its reference: values and gradients, in each type, for any number of threads.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/philox.h"

namespace megadlm::ops {

using Tensors = std::vector<at::Tensor>;
using Op = std::function<Tensors(const Tensors&)>;

/// Outputs and the gradients of all inputs, for a fixed random weighting of the outputs.
inline Tensors run(const Op& op, const Tensors& inputs) {
  Tensors leaves;
  for (const auto& input : inputs)
    leaves.push_back(input.detach().clone().requires_grad_(at::isFloatingType(input.scalar_type())));
  const Tensors outputs = op(leaves);
  at::Tensor total = at::zeros({}, at::kDouble);
  double phase = 0.3;
  for (const auto& output : outputs) {
    // Numbers that bf16 holds too, so that the gradient that arrives is the same in each type.
    const at::Tensor weights = at::sin(at::arange(output.numel(), at::kDouble) * 0.7 + phase)
                                   .to(at::kBFloat16)
                                   .to(at::kDouble)
                                   .view(output.sizes());
    total = total + (output.to(at::kDouble) * weights).sum();
    phase += 1;
  }
  total.backward();
  Tensors result;
  for (const auto& output : outputs) result.push_back(output.detach());
  for (const auto& leaf : leaves) {
    if (leaf.requires_grad()) result.push_back(leaf.grad());
  }
  return result;
}

/// The largest difference relative to the largest value, or to 0.1 where all values are smaller (what is left
/// of a sum that cancels has no relative precision).
inline double difference(const at::Tensor& a, const at::Tensor& b) {
  const double scale = std::max(b.to(at::kDouble).abs().max().item<double>(), 0.1);
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>() / scale;
}

/// fp32 against the reference in double; bf16 against the reference in double on the rounded inputs.
/// `own_kernels`: no GEMM of a library takes part, so results must not depend on the number of threads.
inline void expect_agreement(const char* name, const Op& op, const Op& reference, const Tensors& inputs,
                             bool own_kernels = true) {
  for (const auto& [type, tolerance] : {std::pair{at::kFloat, 2e-5}, std::pair{at::kBFloat16, 2.5e-2}}) {
    Tensors typed, exact;
    for (const auto& input : inputs) {
      const bool floating = at::isFloatingType(input.scalar_type());
      typed.push_back(floating ? input.to(type) : input);
      exact.push_back(floating ? typed.back().to(at::kDouble) : input);
    }
    const Tensors got = run(op, typed), expected = run(reference, exact);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_LT(difference(got[i], expected[i]), tolerance)
          << name << " " << c10::toString(type) << " result " << i;
    }
    if (!own_kernels) continue;
    at::set_num_threads(1);
    const Tensors single = run(op, typed);
    at::set_num_threads(2);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(single[i].equal(got[i])) << name << ": result " << i << " depends on the number of threads";
    }
  }
}

/// The reference's gradients by central differences in double.
inline void expect_finite_differences(const Op& reference, const Tensors& inputs) {
  const Tensors all = run(reference, inputs);
  const size_t outputs = reference(inputs).size();
  const auto value = [&](const Tensors& at_inputs) {
    double total = 0, phase = 0.3;
    for (const auto& output : reference(at_inputs)) {
      const at::Tensor weights = at::sin(at::arange(output.numel(), at::kDouble) * 0.7 + phase)
                                     .to(at::kBFloat16)
                                     .to(at::kDouble)
                                     .view(output.sizes());
      total += (output * weights).sum().item<double>();
      phase += 1;
    }
    return total;
  };
  constexpr double kStep = 1e-6;
  size_t gradient = outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!at::isFloatingType(inputs[i].scalar_type())) continue;
    const at::Tensor analytic = all[gradient++].flatten();
    for (int64_t k = 0; k < inputs[i].numel(); k += 1 + inputs[i].numel() / 7) {
      Tensors up, down;
      for (const auto& input : inputs) {
        up.push_back(input.clone());
        down.push_back(input.clone());
      }
      up[i].flatten()[k] += kStep;
      down[i].flatten()[k] -= kStep;
      EXPECT_NEAR((value(up) - value(down)) / (2 * kStep), analytic[k].item<double>(), 1e-4)
          << "input " << i << " element " << k;
    }
  }
}

inline at::Tensor normal(at::IntArrayRef shape, uint64_t seed) {
  at::Tensor result = at::empty(shape, at::kDouble);
  const base::Random random(seed, base::RandomStream::test);
  double* values = result.mutable_data_ptr<double>();
  for (int64_t i = 0; i < result.numel(); ++i) values[i] = random.normal(0, static_cast<uint64_t>(i));
  return result;
}

}  // namespace megadlm::ops
