#include "optim/schedule/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace megadlm::optim {
namespace {

config::ScheduleOptions base_options(config::DecayStyle style) {
  config::ScheduleOptions options;
  options.lr = 1.0;
  options.min_lr = 0.1;
  options.lr_decay_style = style;
  return options;
}

TEST(Schedule, WarmupIsLinearFromItsFirstRate) {
  auto options = base_options(config::DecayStyle::constant);
  options.lr_warmup_iters = 10;
  options.lr_warmup_init = 0.2;
  const LearningRateSchedule schedule(options, 4, 400);
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.2);
  EXPECT_DOUBLE_EQ(schedule.rate(20), 0.6);
  EXPECT_DOUBLE_EQ(schedule.rate(40), 1.0);
  EXPECT_DOUBLE_EQ(schedule.rate(4000), 1.0);
}

TEST(Schedule, LinearAndCosineReachTheSmallestRate) {
  const LearningRateSchedule linear(base_options(config::DecayStyle::linear), 1, 100);
  EXPECT_DOUBLE_EQ(linear.rate(50), 0.55);
  EXPECT_DOUBLE_EQ(linear.rate(100), 0.1);
  EXPECT_DOUBLE_EQ(linear.rate(200), 0.1);
  const LearningRateSchedule cosine(base_options(config::DecayStyle::cosine), 1, 100);
  EXPECT_DOUBLE_EQ(cosine.rate(50), 0.55);
  EXPECT_NEAR(cosine.rate(25), 0.1 + 0.9 * 0.5 * (1 + std::cos(M_PI / 4)), 1e-12);
}

TEST(Schedule, InverseSquareRootContinuesWarmup) {
  auto options = base_options(config::DecayStyle::inverse_square_root);
  options.lr_warmup_samples = 100;
  const LearningRateSchedule schedule(options, 1, 100000);
  EXPECT_DOUBLE_EQ(schedule.rate(100), 1.0);
  EXPECT_DOUBLE_EQ(schedule.rate(400), 0.5);
  EXPECT_DOUBLE_EQ(schedule.rate(40000), 0.1);
}

TEST(Schedule, WsdStaysThenDecaysInEachStyle) {
  using Style = config::WsdDecayStyle;
  for (const auto& [style, quarter] : {std::pair{Style::linear, 0.75},
                                       {Style::cosine, 0.5 * (1 + std::cos(M_PI / 4))},
                                       {Style::exponential, 2 * std::pow(0.5, 0.25) - 1},
                                       {Style::minus_sqrt, 0.5}}) {
    auto options = base_options(config::DecayStyle::wsd);
    options.lr_wsd_decay_style = style;
    options.lr_wsd_decay_iters = 40;
    const LearningRateSchedule schedule(options, 2, 200);
    EXPECT_DOUBLE_EQ(schedule.rate(120), 1.0);
    EXPECT_NEAR(schedule.rate(140), 0.1 + 0.9 * quarter, 1e-12);
    EXPECT_NEAR(schedule.rate(200), 0.1, 1e-12);
  }
}

TEST(Schedule, IterationsAndSamplesSayTheSame) {
  auto by_iterations = base_options(config::DecayStyle::cosine), by_samples = by_iterations;
  by_iterations.lr_decay_iters = 30;
  by_iterations.lr_warmup_iters = 5;
  by_samples.lr_decay_samples = 240;
  by_samples.lr_warmup_samples = 40;
  const LearningRateSchedule one(by_iterations, 8, 999), other(by_samples, 8, 999);
  for (int64_t samples = 0; samples < 300; samples += 8) EXPECT_EQ(one.rate(samples), other.rate(samples));
}

TEST(Schedule, ByTimeFollowsTheClockAfterWarmup) {
  auto options = base_options(config::DecayStyle::linear);
  options.lr_warmup_iters = 10;
  const LearningRateSchedule schedule(options, 1, 1000);
  EXPECT_DOUBLE_EQ(schedule.rate_by_time(5, 0), 0.5);
  EXPECT_DOUBLE_EQ(schedule.rate_by_time(500, 0.5), 0.55);
  EXPECT_DOUBLE_EQ(schedule.rate_by_time(500, 1.5), 0.1);
}

}  // namespace
}  // namespace megadlm::optim
