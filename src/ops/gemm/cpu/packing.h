#pragma once

// Rearranges rows of numbers into the factors of block_product. Numbers beyond the matrix become zeros.

#include <algorithm>

#include "ops/gemm/cpu/block_product.h"

namespace megadlm::ops::MEGADLM_ISA {

/// Rows of `columns` numbers, `stride` numbers apart.
template <class Element>
struct Rows {
  const Element* data;
  int64_t rows, columns, stride;
};

constexpr int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Words of a row: left factor [rows, words], where the summed dim runs along the rows' numbers.
template <class Format>
inline void pack_rows(const Rows<typename Format::Element>& from, int64_t rows, int64_t words, int32_t* to) {
  for (int64_t i = 0; i < rows; ++i) {
    int32_t* row = to + i * words;
    const size_t bytes = i < from.rows ? from.columns * sizeof(typename Format::Element) : 0;
    if (bytes > 0) std::memcpy(row, from.data + i * from.stride, bytes);
    std::memset(reinterpret_cast<char*>(row) + bytes, 0, words * 4 - bytes);
  }
}

/// Transposes kLanes x kLanes words: exchanges the off-diagonal blocks, from the largest to the smallest.
template <int kDistance = kLanes / 2>
inline void transpose_square(Words (&rows)[kLanes]) {
  if constexpr (kDistance > 0) {
    constexpr auto lanes = std::make_index_sequence<kLanes>();
    for (int i = 0; i < kLanes; ++i) {
      if ((i & kDistance) != 0) continue;
      const Words upper = rows[i], lower = rows[i + kDistance];
      [&]<size_t... kLane>(std::index_sequence<kLane...>) {
        rows[i] = __builtin_shufflevector(upper, lower,
                                          ((kLane & kDistance) ? kLane - kDistance + kLanes : kLane)...);
        rows[i + kDistance] = __builtin_shufflevector(
            upper, lower, ((kLane & kDistance) ? kLane + kLanes : kLane + kDistance)...);
      }
      (lanes);
    }
    transpose_square<kDistance / 2>(rows);
  }
}

/// to [columns, rows] = from [rows, columns] transposed, of words; rows and columns are multiples of kLanes.
/// `to` advances by `to_stride` words a row.
inline void transpose_words(const int32_t* from, int64_t from_stride, int64_t rows, int64_t columns,
                            int32_t* to, int64_t to_stride) {
  for (int64_t i = 0; i < rows; i += kLanes) {
    for (int64_t j = 0; j < columns; j += kLanes) {
      Words square[kLanes];
      for (int k = 0; k < kLanes; ++k) square[k] = load_vector<Words>(from + (i + k) * from_stride + j);
      transpose_square(square);
      for (int k = 0; k < kLanes; ++k) store_vector(to + (j + k) * to_stride + i, square[k]);
    }
  }
}

/// Right factor [words, columns] in panels, from rows that become its columns (a multiple of kPanel).
template <class Format>
inline void pack_transposed(const Rows<typename Format::Element>& from, int64_t columns, int64_t words,
                            int32_t* to) {
  alignas(64) int32_t square[kLanes * kLanes];
  for (int64_t row = 0; row < columns; row += kLanes) {
    for (int64_t word = 0; word < words; word += kLanes) {
      const int64_t column = word * Format::kPerWord;
      const Rows<typename Format::Element> part{
          from.data + row * from.stride + column, from.rows - row,
          std::clamp<int64_t>(from.columns - column, 0, kLanes * Format::kPerWord), from.stride};
      pack_rows<Format>(part, kLanes, kLanes, square);
      transpose_words(square, kLanes, kLanes, kLanes,
                      to + row / kPanel * words * kPanel + word * kPanel + row % kPanel, kPanel);
    }
  }
}

/// The numbers of kLanes columns from `column` on of row `row`, as fp32; zeros beyond the matrix.
template <class Format>
inline Floats row_part(const Rows<typename Format::Element>& from, int64_t row, int64_t column) {
  if (row >= from.rows) return Floats{};
  return load_first<Format>(from.data + row * from.stride + column, from.columns - column);
}

/// The words of rows [Format::kPerWord x pair, ...) at kLanes columns: the summed dim runs down the rows.
template <class Format>
inline Words interleaved(const Rows<typename Format::Element>& from, int64_t pair, int64_t column) {
  Floats rows[Format::kPerWord];
  for (int i = 0; i < Format::kPerWord; ++i)
    rows[i] = row_part<Format>(from, pair * Format::kPerWord + i, column);
  return Format::words(rows);
}

/// Right factor [rows / kPerWord, columns] in panels, from rows [begin, end) (multiples of kPerWord) of the
/// summed dim: depth words deep in all.
template <class Format>
inline void pack_panels(const Rows<typename Format::Element>& from, int64_t begin, int64_t end, int64_t depth,
                        int32_t* to) {
  const int64_t columns = round_up(from.columns, kLanes);
  for (int64_t pair = begin / Format::kPerWord; pair < end / Format::kPerWord; ++pair) {
    for (int64_t column = 0; column < columns; column += kLanes) {
      store_vector(to + (column / kPanel * depth + pair) * kPanel + column % kPanel,
                   interleaved<Format>(from, pair, column));
    }
  }
}

}  // namespace megadlm::ops::MEGADLM_ISA
