#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace megadlm::base {

/// What a random number is for. Part of the counter, so that no two uses share numbers. Values are stored
/// in no file but fix every run's numbers: append, never renumber.
enum class RandomStream : uint32_t {
  initialization = 1,    // (parameter index, element)
  document_shuffle = 2,  // (epoch, position)
  sample_shuffle = 3,    // (epoch, position)
  diffusion_time = 4,    // (sample, 0)
  diffusion_mask = 5,    // (sample, position)
  diffusion_length = 6,  // (batch, 0)
  hidden_dropout = 7,    // (iteration and layer, element)
  generation_token = 8,  // (row and step, element)
  generation_order = 9,  // (row and step, position)
  evaluation_time = 10,  // (sample, draw)
  evaluation_mask = 11,  // (sample and draw, position)
  mock_data = 12,        // (sample, position)
  test = 1000,
};

/// Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
/// Four 32-bit numbers as a pure function of a 64-bit key and a 128-bit counter.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// Random numbers keyed by (seed, stream, a, b): no state, the same on every layout, device and restart.
/// `a` is usually a sample or parameter number (its low 63 bits count), `b` a position below 2^32.
class Random {
 public:
  constexpr Random(uint64_t seed, RandomStream stream)
      : seed_(seed), stream_(static_cast<uint32_t>(stream)) {}

  /// Four independent 32-bit numbers.
  constexpr std::array<uint32_t, 4> block(uint64_t a, uint64_t b) const {
    const uint32_t key1 = static_cast<uint32_t>(seed_ >> 32) ^ (stream_ * 0x9E3779B9u);
    return philox4x32({static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32), static_cast<uint32_t>(a),
                       static_cast<uint32_t>(a >> 32)},
                      {static_cast<uint32_t>(seed_), key1});
  }

  constexpr uint32_t bits32(uint64_t a, uint64_t b) const { return block(a, b)[0]; }
  constexpr uint64_t bits64(uint64_t a, uint64_t b) const {
    const auto words = block(a, b);
    return (uint64_t{words[1]} << 32) | words[0];
  }

  /// Uniform in [0, 1) with 24 bits, exact in float.
  constexpr float uniform(uint64_t a, uint64_t b) const {
    return static_cast<float>(bits32(a, b) >> 8) * 0x1p-24f;
  }
  /// Uniform in [0, 1) with 53 bits.
  constexpr double uniform_double(uint64_t a, uint64_t b) const {
    return static_cast<double>(bits64(a, b) >> 11) * 0x1p-53;
  }
  /// Uniform integer in [0, bound); the bias is below bound / 2^64.
  constexpr uint64_t below(uint64_t bound, uint64_t a, uint64_t b) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(bits64(a, b)) * bound) >> 64);
  }
  /// Standard normal (Box-Muller over two 32-bit uniforms of the block).
  double normal(uint64_t a, uint64_t b) const {
    const auto words = block(a, b);
    const double u = (words[0] + 0.5) * 0x1p-32, v = (words[1] + 0.5) * 0x1p-32;
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
  }

 private:
  uint64_t seed_;
  uint32_t stream_;
};

}  // namespace megadlm::base
