#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::ops {

/// Whether kernels take this tensor: on the processor, fp32 or bf16.
inline bool fits_kernels(const at::Tensor& tensor) {
  return tensor.device().is_cpu() &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16);
}

/// Rows of a tensor seen as [rows, last dim].
inline int64_t rows_of(const at::Tensor& tensor) {
  return tensor.size(-1) == 0 ? 0 : tensor.numel() / tensor.size(-1);
}

inline bool is_bf16(const at::Tensor& tensor) { return tensor.scalar_type() == at::kBFloat16; }

}  // namespace megadlm::ops
