#include "ops/gemm/cpu/packing.h"
#include "ops/gemm/kernels.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

/// The right factor is packed whole, once; a part then multiplies a block of rows with a block of columns.
template <class Format>
struct Gemm {
  using Element = typename Format::Element;
  using Matrix = GemmKernels::Matrix;
  using Product = GemmKernels::Product;
  static constexpr int64_t kPer = Format::kPerWord;
  static constexpr int64_t kRows = 96, kColumns = 8 * kPanel;  ///< of a part
  static constexpr int64_t kDepth = 128;  ///< words of a panel that stay in the first cache

  static int64_t words(int64_t depth) { return round_up((depth + kPer - 1) / kPer, kDepth); }
  static int64_t packed_words(const Matrix& right) { return panel_words(words(right.rows), right.columns); }
  static int64_t pack_parts(const Product& a) { return (a.right.columns + kPanel - 1) / kPanel; }
  static int64_t column_blocks(const Product& a) { return (a.right.columns + kColumns - 1) / kColumns; }
  static int64_t parts(const Product& a) { return (a.left.rows + kRows - 1) / kRows * column_blocks(a); }
  static int64_t scratch_words() { return kRows * kDepth + kRows * kColumns + kDepth * kPer * kRows; }

  static Rows<Element> rows(const Matrix& matrix, int64_t row, int64_t column, int64_t rows,
                            int64_t columns) {
    const auto* data = static_cast<const Element*>(matrix.data);
    return {data + row * matrix.row_stride + column * matrix.column_stride,
            std::clamp<int64_t>(matrix.rows - row, 0, rows),
            std::clamp<int64_t>(matrix.columns - column, 0, columns), matrix.row_stride};
  }
  static Matrix transposed(const Matrix& matrix) {
    return {matrix.data, matrix.columns, matrix.rows, matrix.column_stride, matrix.row_stride};
  }

  /// Panels [begin, end) of the right factor.
  static void pack(const Product& a, int64_t begin, int64_t end) {
    const int64_t depth = words(a.right.rows);
    for (int64_t panel = begin; panel < end; ++panel) {
      int32_t* to = a.packed + panel * depth * kPanel;
      if (a.right.column_stride == 1) {
        pack_panels<Format>(rows(a.right, 0, panel * kPanel, a.right.rows, kPanel), 0, depth * kPer, depth,
                            to);
      } else {
        pack_transposed<Format>(rows(transposed(a.right), panel * kPanel, 0, kPanel, a.right.rows), kPanel,
                                depth, to);
      }
    }
  }

  /// Words [depth, depth + kDepth) of kRows rows of the left factor.
  static void pack_left(const Matrix& left, int64_t row, int64_t depth, int32_t* to, int32_t* pairs) {
    if (left.column_stride == 1) {
      pack_rows<Format>(rows(left, row, depth * kPer, kRows, kDepth * kPer), kRows, kDepth, to);
      return;
    }
    const auto columns = rows(transposed(left), depth * kPer, row, kDepth * kPer, kRows);
    for (int64_t pair = 0; pair < kDepth; ++pair)
      for (int64_t i = 0; i < kRows; i += kLanes)
        store_vector(pairs + pair * kRows + i, interleaved<Format>(columns, pair, i));
    transpose_words(pairs, kRows, kDepth, kRows, to, kDepth);
  }

  static void multiply(const Product& a, int32_t* scratch, int64_t begin, int64_t end) {
    int32_t* left = scratch;
    auto* result = reinterpret_cast<float*>(left + kRows * kDepth);
    int32_t* pairs = left + kRows * kDepth + kRows * kColumns;
    const Panels right{a.packed, words(a.right.rows)};
    for (int64_t part = begin; part < end; ++part) {
      const int64_t row = part / column_blocks(a) * kRows, column = part % column_blocks(a) * kColumns;
      const int64_t rows = std::min(kRows, a.left.rows - row),
                    columns = std::min(kColumns, a.right.columns - column);
      for (int64_t depth = 0; depth < right.depth; depth += kDepth) {
        pack_left(a.left, row, depth, left, pairs);
        block_product<Format>(rows, left, kDepth, right, {column, columns, depth, kDepth}, result, kColumns,
                              depth > 0);
      }
      for (int64_t i = 0; i < rows; ++i)
        store_result(a, result + i * kColumns, (row + i) * a.right.columns, column, columns);
    }
  }

  static void store_result(const Product& a, const float* from, int64_t offset, int64_t column,
                           int64_t columns) {
    Element* to = static_cast<Element*>(a.result) + offset + column;
    const Element* bias = a.bias == nullptr ? nullptr : static_cast<const Element*>(a.bias) + column;
    int64_t j = 0;
    for (; bias == nullptr && j + kLanes <= columns; j += kLanes)
      Format::store_row(to + j, load_vector<Floats>(from + j));
    for (; j < columns; ++j) store(to + j, bias == nullptr ? from[j] : from[j] + to_float(bias[j]));
  }
};

template <class Format>
constexpr GemmKernels::Implementation implementation() {
  using Kernel = Gemm<Format>;
  return {Kernel::packed_words,  Kernel::pack_parts, Kernel::parts,
          Kernel::scratch_words, Kernel::pack,       Kernel::multiply};
}

}  // namespace

const GemmKernels gemm_kernels{implementation<F32Format>(), implementation<Bf16Format>()};

}  // namespace megadlm::ops::MEGADLM_ISA
