#pragma once

// Vectors of fp32 lanes for kernels that plain loops cannot express, as wide as the instruction set that the
// including file is built for; and the two element formats that such kernels are written for once. Matrix
// operands are arrays of 32-bit words: an fp32 number, or a pair of bf16 numbers that are neighbours along
// the summed dim (the layout of AVX-512's and AMX's dot products).

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ops/simd/vector_math.h"

namespace megadlm::ops::MEGADLM_ISA {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif

using Floats = float __attribute__((vector_size(4 * kLanes)));
using Words = int32_t __attribute__((vector_size(4 * kLanes)));

template <class Vector>
inline Vector load_vector(const void* source) {
  Vector value;
  std::memcpy(&value, source, sizeof(Vector));
  return value;
}
template <class Vector>
inline void store_vector(void* target, Vector value) {
  std::memcpy(target, &value, sizeof(Vector));
}

inline Floats broadcast(float value) { return value - Floats{}; }
inline Words broadcast(int32_t value) { return value - Words{}; }

/// a x b + c, rounded once where the instruction set can.
inline Floats multiply_add(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }

/// Folds the lanes in halves: the same order on each call.
template <class Combine>
inline float fold(Floats value, Combine combine) {
  float lanes[kLanes];
  store_vector(lanes, value);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] = combine(lanes[i], lanes[i + width]);
  return lanes[0];
}
inline float sum_of(Floats value) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps(value);
#else
  return fold(value, [](float a, float b) { return a + b; });
#endif
}
inline float largest_of(Floats value) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps(value);
#else
  return fold(value, [](float a, float b) { return a > b ? a : b; });
#endif
}

/// 2^x to about 4 units in the last place; 0 far below -126 (and for -infinity), for x up to 127; NaN for
/// NaN.
inline Floats exp2(Floats x) {
  x = x < -200.0f ? broadcast(-200.0f) : x;
  const Floats magic = broadcast(12582912.0f);
  const Floats whole = (x + magic) - magic, rest = x - whole;
  Floats poly = broadcast(1.32764719e-3f);
  poly = multiply_add(poly, rest, broadcast(9.67554133e-3f));
  poly = multiply_add(poly, rest, broadcast(5.55071327e-2f));
  poly = multiply_add(poly, rest, broadcast(2.40221197e-1f));
  poly = multiply_add(poly, rest, broadcast(6.93146967e-1f));
  poly = multiply_add(poly, rest, broadcast(1.00000007f));
#if defined(__AVX512F__)
  return _mm512_scalef_ps(poly, whole);
#else
  const Words exponent = (__builtin_convertvector(whole, Words) + 127) << 23;
  return x < -126.0f ? Floats{} : poly * std::bit_cast<Floats>(exponent);
#endif
}

/// 1 / x to about 2 units in the last place, for x that is neither 0 nor beyond 8e37.
inline Floats reciprocal(Floats x) {
#if defined(__AVX512F__)
  const Floats rough = _mm512_rcp14_ps(x);
  return rough * multiply_add(-x, rough, broadcast(2.0f));
#else
  return 1.0f / x;
#endif
}

/// fp32 bits rounded to bf16 in the upper half of each word (to nearest, ties to even; no NaNs).
inline Words round_to_upper(Floats value) {
  const Words bits = std::bit_cast<Words>(value);
  return bits + 0x7FFF + ((bits >> 16) & 1);
}

/// bf16: a word holds two numbers, so that a product's depth is counted in pairs.
struct Bf16Format {
  using Element = Bf16;
  static constexpr int kPerWord = 2;

  /// sum + a's pair . b's pair, lane by lane.
  static Floats dot(Floats sum, Words a, Words b) {
#if defined(__AVX512BF16__)
    return _mm512_dpbf16_ps(sum, std::bit_cast<__m512bh>(a), std::bit_cast<__m512bh>(b));
#else
    const auto low = [](Words word) { return std::bit_cast<Floats>(word << 16); };
    const auto high = [](Words word) {
      return std::bit_cast<Floats>(word & static_cast<int32_t>(0xFFFF0000));
    };
    return multiply_add(high(a), high(b), multiply_add(low(a), low(b), sum));
#endif
  }

  /// The words of two rows: row 0's number below row 1's.
  static Words words(const Floats* rows) {
#if defined(__AVX512BF16__)
    const __m512i both = std::bit_cast<__m512i>(_mm512_cvtne2ps_pbh(rows[1], rows[0]));
    const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(both));
    const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(both, 1));
    return std::bit_cast<Words>(_mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
#else
    using Unsigned = uint32_t __attribute__((vector_size(4 * kLanes)));
    const Words low = std::bit_cast<Words>(std::bit_cast<Unsigned>(round_to_upper(rows[0])) >> 16);
    return low | (round_to_upper(rows[1]) & static_cast<int32_t>(0xFFFF0000));
#endif
  }

  /// Stores kLanes numbers one after the other.
  static void store_row(Bf16* target, Floats value) {
#if defined(__AVX512BF16__)
    store_vector(target, std::bit_cast<__m256i>(_mm512_cvtneps_pbh(value)));
#else
    using Unsigned = uint32_t __attribute__((vector_size(4 * kLanes)));
    using Halves = uint16_t __attribute__((vector_size(2 * kLanes)));
    const auto upper = std::bit_cast<Unsigned>(round_to_upper(value)) >> 16;
    store_vector(target, __builtin_convertvector(upper, Halves));
#endif
  }

  /// The numbers as they read back after being stored.
  static Floats round(Floats value) {
    return std::bit_cast<Floats>(round_to_upper(value) & static_cast<int32_t>(0xFFFF0000));
  }

  static Floats load_row(const Bf16* source) {
    using Halves = uint16_t __attribute__((vector_size(2 * kLanes)));
    const auto halves = load_vector<Halves>(source);
    return std::bit_cast<Floats>(__builtin_convertvector(halves, Words) << 16);
  }
};

/// fp32: a word is a number.
struct F32Format {
  using Element = float;
  static constexpr int kPerWord = 1;
  static Floats dot(Floats sum, Words a, Words b) {
    return multiply_add(std::bit_cast<Floats>(a), std::bit_cast<Floats>(b), sum);
  }
  static Words words(const Floats* rows) { return std::bit_cast<Words>(rows[0]); }
  static void store_row(float* target, Floats value) { store_vector(target, value); }
  static Floats round(Floats value) { return value; }
  static Floats load_row(const float* source) { return load_vector<Floats>(source); }
};

/// Up to kLanes numbers; the other lanes are zero.
template <class Format>
inline Floats load_first(const typename Format::Element* source, int64_t count) {
  if (count >= kLanes) return Format::load_row(source);
  float lanes[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) lanes[i] = to_float(source[i]);
  return load_vector<Floats>(lanes);
}

/// Stores the first `count` lanes.
template <class Format>
inline void store_first(typename Format::Element* target, Floats value, int64_t count) {
  if (count >= kLanes) {
    Format::store_row(target, value);
    return;
  }
  float lanes[kLanes];
  store_vector(lanes, value);
  for (int64_t i = 0; i < count; ++i) store(target + i, lanes[i]);
}

}  // namespace megadlm::ops::MEGADLM_ISA
