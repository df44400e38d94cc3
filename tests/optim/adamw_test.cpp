#include "optim/adamw/adamw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace megadlm::optim {
namespace {

config::OptimizerOptions options_with(double clip) {
  config::OptimizerOptions options;
  options.adam_beta2 = 0.95;
  options.weight_decay = 0.1;
  options.clip_grad = clip;
  return options;
}

std::vector<nn::Parameter> parameters_with(const std::vector<double>& values) {
  const at::Tensor value = at::tensor(values).to(at::kFloat);
  return {{"matrix", value.clone().requires_grad_(true), true},
          {"norm", value.clone().requires_grad_(true), false}};
}

void set_gradients(std::vector<nn::Parameter>& parameters, double value) {
  for (auto& parameter : parameters)
    parameter.value.mutable_grad() = at::full_like(parameter.value, value).detach();
}

/// One weight by the textbook, in double.
struct Textbook {
  double weight, first = 0, second = 0;
  int step = 0;
  void update(double gradient, double rate, double decay) {
    ++step;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.95 * second + 0.05 * gradient * gradient;
    const double hat = first / (1 - std::pow(0.9, step));
    const double root = std::sqrt(second / (1 - std::pow(0.95, step)));
    weight = weight - rate * decay * weight - rate * hat / (root + 1e-8);
  }
};

TEST(AdamW, FollowsTheTextbookAndDecaysMatricesOnly) {
  auto parameters = parameters_with({0.5, -1.25});
  AdamW optimizer(parameters, options_with(0), at::kFloat);
  Textbook matrix{0.5}, norm{0.5};
  for (int i = 1; i <= 5; ++i) {
    const double gradient = 0.3 * i - 0.5;
    set_gradients(parameters, gradient);
    optimizer.collect_gradients(true);
    optimizer.step(0.01, 1.0, optimizer.gradient_norm(1.0));
    matrix.update(gradient, 0.01, 0.1);
    norm.update(gradient, 0.01, 0.0);
  }
  EXPECT_NEAR(parameters[0].value[0].item<double>(), matrix.weight, 1e-6);
  EXPECT_NEAR(parameters[1].value[0].item<double>(), norm.weight, 1e-6);
}

TEST(AdamW, ClipsToTheNorm) {
  auto clipped = parameters_with({1, 1}), scaled = parameters_with({1, 1});
  AdamW one(clipped, options_with(1.0), at::kFloat), other(scaled, options_with(0), at::kFloat);
  set_gradients(clipped, 10);
  one.collect_gradients(true);
  const double norm = one.gradient_norm(1.0);
  EXPECT_NEAR(norm, 20, 1e-5);
  one.step(0.1, 1.0, norm);
  set_gradients(scaled, 10 / (20 + 1e-6));
  other.collect_gradients(true);
  other.step(0.1, 1.0, other.gradient_norm(1.0));
  EXPECT_TRUE(one.states()[0].second.allclose(other.states()[0].second));
}

TEST(AdamW, MicroBatchesAddUpInFp32) {
  auto parameters = parameters_with({1, 1});
  AdamW optimizer(parameters, options_with(0), at::kBFloat16);
  EXPECT_EQ(parameters[0].value.scalar_type(), at::kBFloat16);
  // 256 + 1 is not a bf16 number; the sum must not be rounded to one.
  for (const double value : {256.0, 1.0}) {
    set_gradients(parameters, value);
    optimizer.collect_gradients(value == 1.0);
  }
  EXPECT_NEAR(optimizer.gradient_norm(1.0), 257 * 2, 1e-3);
  optimizer.step(0.1, 1.0, 0);
  set_gradients(parameters, 2.0);
  optimizer.collect_gradients(true);
  EXPECT_NEAR(optimizer.gradient_norm(1.0), 4, 1e-5) << "a step's gradients must not reach the next";
}

TEST(AdamW, ComputeCopiesFollowTheMasters) {
  auto parameters = parameters_with({1.0, 2.0});
  AdamW optimizer(parameters, options_with(0), at::kBFloat16);
  for (int i = 0; i < 50; ++i) {
    set_gradients(parameters, 1.0);
    optimizer.collect_gradients(true);
    optimizer.step(1e-4, 1.0, 1.0);
  }
  const at::Tensor master = optimizer.masters()[0].second;
  // Steps of 1e-4 vanish in bf16 at 1.0, but not in the master.
  EXPECT_NEAR(master[0].item<double>(), 0.9945, 1e-4);
  EXPECT_TRUE(parameters[0].value.detach().equal(master.to(at::kBFloat16)));
}

TEST(AdamW, NamesTheFirstParameterThatIsNotFinite) {
  auto parameters = parameters_with({1.0, 2.0});
  AdamW optimizer(parameters, options_with(1.0), at::kFloat);
  set_gradients(parameters, 1.0);
  parameters[1].value.mutable_grad()[1] = std::numeric_limits<double>::quiet_NaN();
  optimizer.collect_gradients(true);
  EXPECT_FALSE(std::isfinite(optimizer.gradient_norm(1.0)));
  EXPECT_EQ(optimizer.first_non_finite_gradient(), "norm");
  optimizer.discard_gradients();
  EXPECT_EQ(optimizer.gradient_norm(1.0), 0);
  EXPECT_FALSE(optimizer.first_non_finite_gradient());
}

}  // namespace
}  // namespace megadlm::optim
