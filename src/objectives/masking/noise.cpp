#include "objectives/masking/noise.h"

#include <ATen/ATen.h>

#include <cmath>

namespace megadlm::objectives {
namespace {

constexpr double kGoldenRatio = 0.6180339887498949;
constexpr uint64_t kForcedPosition = uint64_t{1} << 40;  // counter of the draw that picks a forced mask

}  // namespace

at::Tensor maskable_positions(const data::RowBatch& rows, bool shifted) {
  at::Tensor allowed =
      rows.loss_mask.defined() ? rows.loss_mask.ne(0) : at::ones_like(rows.tokens, at::kBool);
  if (!shifted) return allowed.contiguous();
  allowed = allowed.clone(at::MemoryFormat::Contiguous);
  allowed.select(1, 0).fill_(false);
  if (rows.segments.defined()) {
    allowed.slice(1, 1).logical_and_(rows.segments.slice(1, 1).eq(rows.segments.slice(1, 0, -1)));
  }
  return allowed;
}

NoiseSchedule::NoiseSchedule(const config::ObjectiveOptions& options, uint64_t seed)
    : options_(options),
      time_(seed, base::RandomStream::diffusion_time),
      mask_(seed, base::RandomStream::diffusion_mask),
      length_(seed, base::RandomStream::diffusion_length) {}

double NoiseSchedule::time(int64_t sample) const {
  double u = 0;
  if (options_.difflm_time_sampling == config::DiffusionTimeSampling::uniform) {
    u = time_.uniform_double(static_cast<uint64_t>(sample), 0);
  } else {
    // Consecutive multiples of the golden ratio, taken modulo 1, leave gaps of almost equal size.
    const double turned =
        time_.uniform_double(0, 1) + std::fmod(static_cast<double>(sample) * kGoldenRatio, 1.0);
    u = turned - std::floor(turned);
  }
  return (1 - options_.difflm_time_epsilon) * u + options_.difflm_time_epsilon;
}

Noise NoiseSchedule::draw(const at::Tensor& maskable, const std::vector<int64_t>& samples) const {
  const int64_t rows = maskable.size(0), length = maskable.size(1);
  Noise noise{at::zeros({rows, length}, at::kBool), at::zeros({rows, length}, at::kFloat), 0};
  const at::Tensor allowed = maskable.contiguous();
  const bool* may = allowed.const_data_ptr<bool>();
  bool* masked = noise.masked.mutable_data_ptr<bool>();
  float* weights = noise.weights.mutable_data_ptr<float>();
  std::vector<int64_t> positions;
  for (int64_t row = 0; row < rows; ++row, may += length, masked += length, weights += length) {
    const auto sample = static_cast<uint64_t>(samples[row]);
    const double t = time(samples[row]);
    positions.clear();
    int64_t count = 0;
    for (int64_t i = 0; i < length; ++i) {
      if (!may[i]) continue;
      positions.push_back(i);
      masked[i] = mask_.uniform(sample, i) < t;
      count += masked[i];
    }
    if (positions.empty()) continue;
    if (count == 0) {
      masked[positions[mask_.below(positions.size(), sample, kForcedPosition)]] = true;
      count = 1;
    }
    const auto valid = static_cast<double>(positions.size());
    noise.maskable += valid;
    const double weight =
        options_.difflm_loss_weight == config::DiffusionWeight::exact_fraction ? valid / count : 1 / t;
    for (const int64_t i : positions) {
      if (masked[i]) weights[i] = static_cast<float>(weight);
    }
  }
  return noise;
}

int64_t NoiseSchedule::row_length(int64_t batch, int64_t length) const {
  const auto key = static_cast<uint64_t>(batch);
  if (length <= 2 || length_.uniform_double(key, 0) >= options_.difflm_varilen_prob) return length;
  return 2 + static_cast<int64_t>(length_.below(static_cast<uint64_t>(length - 1), key, 1));
}

}  // namespace megadlm::objectives
