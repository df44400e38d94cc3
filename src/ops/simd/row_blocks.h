#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace megadlm::ops {

/// Rows that are worth a thread's start.
inline int64_t row_grain(int64_t row_size) { return row_size <= 0 ? 1 : (16384 + row_size - 1) / row_size; }

/// Calls `block(begin, end, part)` for blocks of rows whose number depends on the rows alone, `part` being a
/// zeroed fp32 array of `size`; gives the sum of all parts, added in order: the same for any number of
/// threads.
at::Tensor sum_over_row_blocks(int64_t rows, int64_t size,
                               const std::function<void(int64_t begin, int64_t end, float* part)>& block);

}  // namespace megadlm::ops
