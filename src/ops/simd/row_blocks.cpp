#include "ops/simd/row_blocks.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace megadlm::ops {

void for_rows(const at::Tensor& tensor, int64_t rows, int64_t grain,
              const std::function<void(int64_t begin, int64_t end)>& work) {
  if (tensor.device().is_cpu()) {
    at::parallel_for(0, rows, grain, work);
  } else {
    work(0, rows);
  }
}

at::Tensor sum_over_row_blocks(const at::Tensor& tensor, int64_t rows, int64_t size,
                               const std::function<void(int64_t begin, int64_t end, float* part)>& block) {
  if (!tensor.device().is_cpu()) {
    at::Tensor parts = at::zeros({kDeviceParts, size}, tensor.options().dtype(at::kFloat));
    block(0, rows, parts.mutable_data_ptr<float>());
    return parts.sum(0);
  }
  constexpr int64_t kBlocks = 32;
  const int64_t per_block = std::max<int64_t>((rows + kBlocks - 1) / kBlocks, 16);
  const int64_t blocks = std::max<int64_t>((rows + per_block - 1) / per_block, 1);
  at::Tensor parts = at::zeros({blocks, size}, at::kFloat);
  float* data = parts.mutable_data_ptr<float>();
  at::parallel_for(0, blocks, std::max<int64_t>(1, row_grain(size) / per_block),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       block(i * per_block, std::min((i + 1) * per_block, rows), data + i * size);
                   });
  for (int64_t i = 1; i < blocks; ++i) {
    const float* part = data + i * size;
    for (int64_t k = 0; k < size; ++k) data[k] += part[k];
  }
  return parts[0];
}

}  // namespace megadlm::ops
