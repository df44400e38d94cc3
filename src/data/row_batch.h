#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace megadlm::data {

/// Rows of clean tokens, a pure function of (seed, sample numbers).
struct RowBatch {
  at::Tensor tokens;     ///< [b, s] i64; for `rows_longer_by_one` sources [b, s + 1]
  at::Tensor positions;  ///< [b, s] i64, undefined when they are 0..s-1
  at::Tensor segments;   ///< [b, s] i64 document number in the row, undefined when tokens see all documents
  at::Tensor loss_mask;  ///< [b, s] f32 0 or 1, undefined when all positions count
  std::vector<int64_t> sample;  ///< global sample number of each row
  int64_t batch = 0;            ///< number of the global batch (iteration), from 0
};

}  // namespace megadlm::data
