#include "ops/gated_activation/gated_activation.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "ops/gated_activation/kernels.h"
#include "ops/gated_activation/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/row_blocks.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const GatedActivationKernels& kernels(const at::Tensor& x) {
  if (x.is_cuda()) return cuda::gated_activation_kernels;
  return MEGADLM_CHOOSE_KERNELS(gated_activation_kernels);
}

struct GatedActivationFunction : torch::autograd::Function<GatedActivationFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, int64_t kind) {
    const at::Tensor input = x.contiguous();
    auto shape = input.sizes().vec();
    shape.back() /= 2;
    at::Tensor y = at::empty(shape, input.options());
    const auto run = is_bf16(input) ? kernels(input).forward_bf16[kind] : kernels(input).forward_f32[kind];
    const GatedActivationKernels::Forward arguments{input.const_data_ptr(), y.mutable_data_ptr(),
                                                    shape.back()};
    for_rows(input, rows_of(y), row_grain(shape.back()),
             [&](int64_t begin, int64_t end) { run(arguments, begin, end); });
    context->save_for_backward({input});
    context->saved_data["kind"] = kind;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor x = context->get_saved_variables()[0], grad_y = gradients[0].contiguous();
    const int64_t kind = context->saved_data["kind"].toInt();
    at::Tensor grad_x = at::empty_like(x);
    const auto run = is_bf16(x) ? kernels(x).backward_bf16[kind] : kernels(x).backward_f32[kind];
    const GatedActivationKernels::Backward arguments{x.const_data_ptr(), grad_y.const_data_ptr(),
                                                     grad_x.mutable_data_ptr(), grad_y.size(-1)};
    for_rows(x, rows_of(grad_y), row_grain(grad_y.size(-1)),
             [&](int64_t begin, int64_t end) { run(arguments, begin, end); });
    return {grad_x, at::Tensor()};
  }
};

}  // namespace

at::Tensor gated_activation(const at::Tensor& x, GateKind kind) {
  base::require(x.dim() >= 1 && x.size(-1) % 2 == 0, "gated_activation: the last dim must be even");
  const bool fits = fits_kernels(x) || fits_cuda_kernels(x);
  report_choice("gated_activation", fits ? kernels_name(x) : "reference",
                fits ? "" : "the type or device has no kernel");
  if (!fits) return reference::gated_activation(x, kind);
  return GatedActivationFunction::apply(x, static_cast<int64_t>(kind));
}

}  // namespace megadlm::ops
