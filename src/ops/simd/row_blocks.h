#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace megadlm::ops {

/// Rows that are worth a thread's start.
inline int64_t row_grain(int64_t row_size) { return row_size <= 0 ? 1 : (16384 + row_size - 1) / row_size; }

/// Calls `work(begin, end)` for ranges that make up [0, rows): by the threads of the processor, or once where
/// the tensor is on a device, whose kernels share the rows out themselves.
void for_rows(const at::Tensor& tensor, int64_t rows, int64_t grain,
              const std::function<void(int64_t begin, int64_t end)>& work);

/// Partial sums that kernels of a device make.
inline constexpr int64_t kDeviceParts = 2048;

/// Calls `block(begin, end, part)` for blocks of rows whose number depends on the rows alone, `part` being a
/// zeroed fp32 array of `size`; gives the sum of all parts, added in order: the same for any number of
/// threads. Where `tensor` is on a device there is one call, and `part` is [kDeviceParts, size] there.
at::Tensor sum_over_row_blocks(const at::Tensor& tensor, int64_t rows, int64_t size,
                               const std::function<void(int64_t begin, int64_t end, float* part)>& block);

}  // namespace megadlm::ops
