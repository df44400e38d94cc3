#pragma once

// Scalar building blocks that compilers turn into vector code. Everything is in the namespace of the
// instruction set that the including file is built for, so that no copy leaks into another.

#include <bit>
#include <cmath>
#include <cstdint>

namespace megadlm::ops::MEGADLM_ISA {

/// bfloat16 as stored.
struct Bf16 {
  uint16_t bits;
};

inline float to_float(float value) { return value; }
inline float to_float(Bf16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

/// Round to nearest, ties to even; a NaN stays one.
inline uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>(value == value ? rounded : 0x7FC0u);
}

inline void store(float* target, float value) { *target = value; }
inline void store(Bf16* target, float value) { target->bits = bf16_bits(value); }

/// The value as it reads back after being stored in T.
template <class T>
inline float round_to(float value);
template <>
inline float round_to<float>(float value) {
  return value;
}
template <>
inline float round_to<Bf16>(float value) {
  return std::bit_cast<float>(uint32_t{bf16_bits(value)} << 16);
}

inline constexpr float kLog2E = 1.44269504088896341f;

/// e^x to about 2 units in the last place for |x| < 87; 0 or a large number beyond (Cephes' polynomial).
inline float fast_exp(float x) {
  const float clamped = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
  const float turns = clamped * kLog2E;
  const float whole = (turns + 12582912.0f) - 12582912.0f;
  float rest = clamped - whole * 0.693359375f;
  rest -= whole * -2.12194440e-4f;
  float poly = 1.9875691500e-4f;
  poly = poly * rest + 1.3981999507e-3f;
  poly = poly * rest + 8.3334519073e-3f;
  poly = poly * rest + 4.1665795894e-2f;
  poly = poly * rest + 1.6666665459e-1f;
  poly = poly * rest + 5.0000001201e-1f;
  const float value = poly * rest * rest + rest + 1.0f;
  const float scale = std::bit_cast<float>((static_cast<int32_t>(whole) + 127) << 23);
  return x < -87.0f ? 0.0f : value * scale;
}

}  // namespace megadlm::ops::MEGADLM_ISA
