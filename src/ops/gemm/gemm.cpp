#include "ops/gemm/gemm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "base/error.h"
#include "base/log.h"
#include "ops/gemm/kernels.h"
#include "ops/simd/isa.h"
#include "ops/simd/scratch.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

constexpr int64_t kLeastRows = 32;  ///< of the left factor, for which packing the right one pays

const GemmKernels& kernels() { return MEGADLM_CHOOSE_KERNELS(gemm_kernels); }

bool is_view_of_rows(const at::Tensor& matrix) { return matrix.stride(0) == 1 || matrix.stride(1) == 1; }

/// Whether our fp32 kernels beat ATen's: its library runs AVX2 code on processors that have AVX-512 but are
/// not Intel's.
bool prefers_kernels(const at::Tensor& left) {
  static const bool faster = current_isa() >= Isa::avx512 && !__builtin_cpu_is("intel");
  return faster && left.scalar_type() == at::kFloat && left.device().is_cpu() && left.size(0) >= kLeastRows;
}

at::Tensor aten_product(const at::Tensor& left, const at::Tensor& right, const at::Tensor& bias) {
  return bias.defined() ? at::addmm(bias, left, right) : at::mm(left, right);
}

void multiply(const at::Tensor& left_in, const at::Tensor& right_in, const at::Tensor& bias,
              at::Tensor& result) {
  base::require(left_in.dim() == 2 && right_in.dim() == 2 && left_in.size(1) == right_in.size(0) &&
                    fits_kernels(left_in) && left_in.scalar_type() == right_in.scalar_type(),
                "matrix product: [m, k] and [k, n] of one type, fp32 or bf16, are accepted");
  if (left_in.size(1) == 0) {
    result.zero_();
    if (bias.defined()) result.add_(bias);
    return;
  }
  const at::Tensor left = is_view_of_rows(left_in) ? left_in : left_in.contiguous();
  const at::Tensor right = is_view_of_rows(right_in) ? right_in : right_in.contiguous();
  const at::Tensor added = bias.defined() ? bias.contiguous() : bias;
  const auto& kernel = is_bf16(left) ? kernels().bf16 : kernels().f32;
  const auto matrix = [](const at::Tensor& tensor) {
    return GemmKernels::Matrix{tensor.const_data_ptr(), tensor.size(0), tensor.size(1), tensor.stride(0),
                               tensor.stride(1)};
  };
  at::Tensor packed = at::empty({kernel.packed_words(matrix(right))}, at::kInt);
  const GemmKernels::Product product{matrix(left), matrix(right),
                                     added.defined() ? added.const_data_ptr() : nullptr,
                                     result.mutable_data_ptr(), packed.mutable_data_ptr<int32_t>()};
  at::parallel_for(0, kernel.pack_parts(product), 1,
                   [&](int64_t begin, int64_t end) { kernel.pack(product, begin, end); });
  in_parallel(
      kernel.parts(product), kernel.scratch_words(),
      [&](int32_t* scratch, int64_t begin, int64_t end) { kernel.multiply(product, scratch, begin, end); });
}

}  // namespace

at::Tensor kernel_product(const at::Tensor& left, const at::Tensor& right, const at::Tensor& bias) {
  at::Tensor result = at::empty({left.size(0), right.size(1)}, left.options());
  multiply(left, right, bias, result);
  return result;
}

void matrix_product_into(at::Tensor result, const at::Tensor& left, const at::Tensor& right) {
  const at::NoGradGuard no_gradient;
  if (prefers_kernels(left)) {
    multiply(left, right, {}, result);
  } else if (left.scalar_type() == at::kHalf && left.device().is_cpu()) {
    result.copy_(matrix_product(left, right));
  } else {
    at::mm_out(result, left, right);
  }
}

at::Tensor matrix_product(const at::Tensor& left, const at::Tensor& right, const at::Tensor& bias) {
  const at::NoGradGuard no_gradient;
  if (left.scalar_type() == at::kHalf && left.device().is_cpu()) {
    base::warn_once("fp16 on a processor: matrix products run in fp32, for want of fast ones in fp16");
    const auto wide = [](const at::Tensor& tensor) {
      return tensor.defined() ? tensor.to(at::kFloat) : tensor;
    };
    return matrix_product(wide(left), wide(right), wide(bias)).to(at::kHalf);
  }
  const bool own = prefers_kernels(left);
  report_choice("gemm", own ? name_of(current_isa()) : "ATen", own ? "" : "it is as fast or faster");
  return own ? kernel_product(left, right, bias) : aten_product(left, right, bias);
}

}  // namespace megadlm::ops
