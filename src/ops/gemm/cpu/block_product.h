#pragma once

// Products of small matrices that stay in the caches, of 32-bit words (ops/simd/vectors.h): the left one row
// by row, the right one in panels.

#include "ops/simd/vectors.h"

namespace megadlm::ops::MEGADLM_ISA {

inline constexpr int64_t kPanel = 64;  ///< columns of a panel
#if defined(__AVX512F__)
inline constexpr int kTileVectors = 4;
#else
inline constexpr int kTileVectors = 2;
#endif
inline constexpr int kTileRows = 6;

/// A right factor of [depth, columns] words, stored as panels of [depth, kPanel]: the last may be partly
/// padding.
struct Panels {
  const int32_t* words;
  int64_t depth;  ///< words of the whole matrix along the summed dim

  const int32_t* panel(int64_t column, int64_t row) const {
    return words + (column / kPanel * depth + row) * kPanel;
  }
};

/// Words that panels of [depth, columns] take.
inline int64_t panel_words(int64_t depth, int64_t columns) {
  return (columns + kPanel - 1) / kPanel * kPanel * depth;
}

/// One tile of the result, which stays in registers: the loops over it are unrolled, so that no sum has an
/// address.
template <class Format, int kRows, int kVectors>
inline void tile_product(const int32_t* left, int64_t left_stride, const int32_t* panel, int64_t depth,
                         float* result, int64_t result_stride, bool accumulate) {
  Floats sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) sums[i][j] = Floats{};
  }
  if (accumulate) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] = load_vector<Floats>(result + i * result_stride + j * kLanes);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Words right[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) right[j] = load_vector<Words>(panel + k * kPanel + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const Words word = broadcast(left[i * left_stride + k]);
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sums[i][j] = Format::dot(sums[i][j], word, right[j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) store_vector(result + i * result_stride + j * kLanes, sums[i][j]);
  }
}

/// The tile of `rows` <= kRows rows.
template <class Format, int kVectors, int kRows = kTileRows>
inline void tile_of_rows(int64_t rows, const int32_t* left, int64_t left_stride, const int32_t* panel,
                         int64_t depth, float* result, int64_t result_stride, bool accumulate) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      tile_of_rows<Format, kVectors, kRows - 1>(rows, left, left_stride, panel, depth, result, result_stride,
                                                accumulate);
      return;
    }
  }
  tile_product<Format, kRows, kVectors>(left, left_stride, panel, depth, result, result_stride, accumulate);
}

template <class Format, int kVectors>
inline void strip_product(int64_t rows, const int32_t* left, int64_t left_stride, const int32_t* panel,
                          int64_t depth, float* result, int64_t result_stride, bool accumulate) {
  for (int64_t i = 0; i < rows; i += kTileRows) {
    tile_of_rows<Format, kVectors>(rows - i, left + i * left_stride, left_stride, panel, depth,
                                   result + i * result_stride, result_stride, accumulate);
  }
}

/// Where a product's words start in its right factor, and how many of them it takes.
struct Block {
  int64_t column, columns;  ///< column: a multiple of kPanel
  int64_t row, depth;
};

/// result [rows, columns] (+)= left [rows, depth] x the block of `right`. The columns are rounded up to whole
/// vectors, for which both `right` and `result` have room.
template <class Format>
inline void block_product(int64_t rows, const int32_t* left, int64_t left_stride, const Panels& right,
                          const Block& block, float* result, int64_t result_stride, bool accumulate) {
  for (int64_t column = 0; column < block.columns; column += kTileVectors * kLanes) {
    const int64_t left_over = (block.columns - column + kLanes - 1) / kLanes;
    const int32_t* panel = right.panel(block.column + column, block.row) + (block.column + column) % kPanel;
    const auto run = [&](auto strip) {
      strip(rows, left, left_stride, panel, block.depth, result + column, result_stride, accumulate);
    };
    if (left_over >= kTileVectors) {
      run(strip_product<Format, kTileVectors>);
    } else if (left_over == 3) {
      run(strip_product<Format, 3>);
    } else if (left_over == 2) {
      run(strip_product<Format, 2>);
    } else {
      run(strip_product<Format, 1>);
    }
  }
}

}  // namespace megadlm::ops::MEGADLM_ISA
