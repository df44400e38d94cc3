#pragma once

#include <ATen/core/Tensor.h>

#include "ops/simd/isa.h"

namespace megadlm::ops {

/// Whether the processor's kernels take this tensor: it is there, in fp32 or bf16.
inline bool fits_kernels(const at::Tensor& tensor) {
  return tensor.device().is_cpu() &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16);
}

/// Whether CUDA kernels take this tensor.
inline bool fits_cuda_kernels(const at::Tensor& tensor) {
  return cuda::kBuilt && tensor.is_cuda() &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16);
}

/// What `report_choice` says of kernels that take this tensor.
inline std::string_view kernels_name(const at::Tensor& tensor) {
  return tensor.is_cuda() ? "cuda" : name_of(current_isa());
}

/// Rows of a tensor seen as [rows, last dim].
inline int64_t rows_of(const at::Tensor& tensor) {
  return tensor.size(-1) == 0 ? 0 : tensor.numel() / tensor.size(-1);
}

inline bool is_bf16(const at::Tensor& tensor) { return tensor.scalar_type() == at::kBFloat16; }

}  // namespace megadlm::ops
