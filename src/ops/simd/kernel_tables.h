#pragma once

// The levels of ops/simd/isa.h as namespaces: each holds its own build of every kernel table.

/// Declares a kernel table, in namespace megadlm::ops, for each instruction set.
#define MEGADLM_DECLARE_KERNELS(Type, table) \
  namespace portable {                       \
  extern const Type table;                   \
  }                                          \
  namespace avx2 {                           \
  extern const Type table;                   \
  }                                          \
  namespace avx512 {                         \
  extern const Type table;                   \
  }                                          \
  namespace avx512_bf16 {                    \
  extern const Type table;                   \
  }                                          \
  static_assert(true)

/// The build of such a table for the current instruction set; needs ops/simd/isa.h.
#define MEGADLM_CHOOSE_KERNELS(table) choose(portable::table, avx2::table, avx512::table, avx512_bf16::table)
