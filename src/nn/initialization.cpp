#include "nn/initialization.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <numbers>

#include "base/philox.h"

namespace megadlm::nn {
namespace {

/// FNV-1a, so that a parameter's numbers depend on its name alone.
uint64_t hash(const std::string& name) {
  uint64_t value = 0xcbf29ce484222325u;
  for (const unsigned char byte : name) value = (value ^ byte) * 0x100000001b3u;
  return value;
}

}  // namespace

at::Tensor normal_parameter(at::IntArrayRef shape, double standard_deviation, uint64_t seed,
                            const std::string& name) {
  at::Tensor result = at::empty(shape, at::kFloat);
  float* values = result.mutable_data_ptr<float>();
  const int64_t count = result.numel();
  const base::Random random(seed, base::RandomStream::initialization);
  const uint64_t key = hash(name);
  // One Philox block gives two Box-Muller pairs: elements 4k to 4k + 3.
  at::parallel_for(0, (count + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto words = random.block(key, static_cast<uint64_t>(block));
      for (int64_t pair = 0; pair < 2; ++pair) {
        const float radius = std::sqrt(-2.0f * std::log((words[2 * pair] + 0.5f) * 0x1p-32f));
        const float angle =
            2 * std::numbers::pi_v<float> * (static_cast<float>(words[2 * pair + 1]) * 0x1p-32f);
        const float normals[2] = {radius * std::cos(angle), radius * std::sin(angle)};
        for (int64_t i = 0; i < 2; ++i) {
          const int64_t element = 4 * block + 2 * pair + i;
          if (element < count) values[element] = normals[i] * static_cast<float>(standard_deviation);
        }
      }
    }
  });
  return result.requires_grad_(true);
}

}  // namespace megadlm::nn
