#include "objectives/masking/noise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace megadlm::objectives {
namespace {

std::vector<int64_t> consecutive(int64_t first, int64_t count) {
  std::vector<int64_t> samples(count);
  std::iota(samples.begin(), samples.end(), first);
  return samples;
}

config::ObjectiveOptions options_with(config::DiffusionWeight weight) {
  config::ObjectiveOptions options;
  options.model_running_mode = config::RunningMode::diffusion_unshifted;
  options.difflm_loss_weight = weight;
  return options;
}

TEST(Noise, EveryRowHasAMaskAndWeightsSumToItsLength) {
  const NoiseSchedule noise(options_with(config::DiffusionWeight::exact_fraction), 1);
  for (const int64_t length : {1, 2, 3, 17}) {
    const Noise drawn = noise.draw(at::ones({500, length}, at::kBool), consecutive(0, 500));
    EXPECT_TRUE(drawn.masked.any(1).all().item<bool>()) << length;
    EXPECT_TRUE(at::allclose(drawn.weights.sum(1), at::full({500}, static_cast<float>(length))));
    EXPECT_TRUE(drawn.weights.ne(0).equal(drawn.masked));
    EXPECT_EQ(drawn.maskable, 500.0 * length);
  }
}

TEST(Noise, DrawnTimeWeightsByTheTime) {
  const NoiseSchedule noise(options_with(config::DiffusionWeight::drawn_time), 1);
  const Noise drawn = noise.draw(at::ones({20, 64}, at::kBool), consecutive(7, 20));
  for (int64_t row = 0; row < 20; ++row) {
    EXPECT_FLOAT_EQ(drawn.weights[row].max().item<float>(), static_cast<float>(1 / noise.time(7 + row)));
  }
}

TEST(Noise, MaskedShareFollowsTheTime) {
  const NoiseSchedule noise(options_with(config::DiffusionWeight::exact_fraction), 3);
  const int64_t length = 20000;
  const Noise drawn = noise.draw(at::ones({8, length}, at::kBool), consecutive(0, 8));
  for (int64_t row = 0; row < 8; ++row) {
    const double share = drawn.masked[row].sum().item<double>() / length, time = noise.time(row);
    EXPECT_NEAR(share, time, 4 * std::sqrt(time * (1 - time) / length) + 1e-9);
  }
}

TEST(Noise, UnmaskablePositionsStay) {
  const NoiseSchedule noise(options_with(config::DiffusionWeight::exact_fraction), 1);
  at::Tensor maskable = at::zeros({100, 10}, at::kBool);
  maskable.slice(1, 4, 6).fill_(true);
  maskable[99].fill_(false);
  const Noise drawn = noise.draw(maskable, consecutive(0, 100));
  EXPECT_FALSE(drawn.masked.logical_and(maskable.logical_not()).any().item<bool>());
  EXPECT_TRUE(drawn.masked.slice(0, 0, 99).any(1).all().item<bool>());
  EXPECT_TRUE(at::isfinite(drawn.weights).all().item<bool>());
  EXPECT_EQ(drawn.weights[99].sum().item<float>(), 0);
  EXPECT_EQ(drawn.maskable, 99 * 2);
}

TEST(Noise, RowsDoNotDependOnTheirBatch) {
  const NoiseSchedule noise(options_with(config::DiffusionWeight::exact_fraction), 5);
  const Noise together = noise.draw(at::ones({6, 33}, at::kBool), consecutive(40, 6));
  for (int64_t row = 0; row < 6; ++row) {
    const Noise alone = noise.draw(at::ones({1, 33}, at::kBool), {40 + row});
    EXPECT_TRUE(alone.masked[0].equal(together.masked[row]));
    EXPECT_TRUE(alone.weights[0].equal(together.weights[row]));
  }
}

TEST(Noise, StratifiedTimesAreEvenlySpreadOverAnyRun) {
  auto options = options_with(config::DiffusionWeight::exact_fraction);
  options.difflm_time_sampling = config::DiffusionTimeSampling::stratified;
  options.difflm_time_epsilon = 0;
  const NoiseSchedule noise(options, 9);
  for (const int64_t first : {0, 123, 1000000007}) {
    std::vector<double> times;
    for (int64_t i = 0; i < 64; ++i) times.push_back(noise.time(first + i));
    std::sort(times.begin(), times.end());
    double widest = times.front() + 1 - times.back();
    for (size_t i = 1; i < times.size(); ++i) widest = std::max(widest, times[i] - times[i - 1]);
    // Independent draws leave a gap of about ln(64)/64 = 0.065.
    EXPECT_LT(widest, 0.04) << first;
  }
}

TEST(Noise, LengthsAreUniformFromTwo) {
  auto options = options_with(config::DiffusionWeight::exact_fraction);
  options.difflm_varilen_prob = 1;
  const NoiseSchedule noise(options, 2);
  std::map<int64_t, int> counts;
  for (int64_t batch = 0; batch < 7000; ++batch) ++counts[noise.row_length(batch, 8)];
  EXPECT_EQ(counts.begin()->first, 2);
  EXPECT_EQ(counts.rbegin()->first, 8);
  for (const auto& [length, count] : counts) EXPECT_NEAR(count, 1000, 130) << length;
  options.difflm_varilen_prob = 0;
  EXPECT_EQ(NoiseSchedule(options, 2).row_length(3, 8), 8);
}

}  // namespace
}  // namespace megadlm::objectives
