#pragma once

#include <cstdint>

#include "ops/simd/kernel_tables.h"

namespace megadlm::ops {

/// Matrix products of fp32 or bf16 numbers (by the suffix), summed in fp32 in an order that the depth alone
/// decides.
struct GemmKernels {
  /// [rows, columns] numbers, of which either neighbours in a row or neighbours in a column lie side by side.
  struct Matrix {
    const void* data;
    int64_t rows, columns, row_stride, column_stride;
  };
  struct Product {
    Matrix left, right;
    const void* bias;  ///< [columns of right] or null
    void* result;      ///< [rows of left, columns of right], row by row
    int32_t* packed;   ///< packed_words(right) of workspace
  };
  struct Implementation {
    int64_t (*packed_words)(const Matrix& right);
    /// How many independent parts `pack` and `multiply` have.
    int64_t (*pack_parts)(const Product&);
    int64_t (*parts)(const Product&);
    /// Words of scratch that a caller of `multiply` gives each thread.
    int64_t (*scratch_words)();
    void (*pack)(const Product&, int64_t begin, int64_t end);
    void (*multiply)(const Product&, int32_t* scratch, int64_t begin, int64_t end);
  };
  Implementation f32, bf16;
};

MEGADLM_DECLARE_KERNELS(GemmKernels, gemm_kernels);

}  // namespace megadlm::ops
