#include "ops/rms_norm/rms_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "ops/rms_norm/kernels.h"
#include "ops/rms_norm/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/row_blocks.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const RmsNormKernels& kernels() { return MEGADLM_CHOOSE_KERNELS(rms_norm_kernels); }

/// (normed, sum) with an optional residual; one node of the graph for both.
struct RmsNormFunction : torch::autograd::Function<RmsNormFunction> {
  static variable_list forward(AutogradContext* context, const std::optional<at::Tensor>& residual,
                               const at::Tensor& x, const at::Tensor& weight, double epsilon) {
    const at::Tensor input = x.contiguous(), scale = weight.contiguous();
    const at::Tensor added = residual ? residual->contiguous() : at::Tensor();
    const int64_t rows = rows_of(input);
    at::Tensor y = at::empty_like(input), sum = added.defined() ? at::empty_like(input) : input;
    at::Tensor inverse_rms = at::empty({rows}, at::kFloat);
    const RmsNormKernels::Forward arguments{input.const_data_ptr(),
                                            added.defined() ? added.const_data_ptr() : nullptr,
                                            scale.const_data_ptr(),
                                            y.mutable_data_ptr(),
                                            added.defined() ? sum.mutable_data_ptr() : nullptr,
                                            inverse_rms.mutable_data_ptr<float>(),
                                            input.size(-1),
                                            static_cast<float>(epsilon)};
    const auto run = is_bf16(input) ? kernels().forward_bf16 : kernels().forward_f32;
    at::parallel_for(0, rows, row_grain(input.size(-1)),
                     [&](int64_t begin, int64_t end) { run(arguments, begin, end); });
    context->save_for_backward({sum, scale, inverse_rms});
    context->saved_data["residual"] = added.defined();
    if (!added.defined()) return {y};
    return {y, sum};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &inverse_rms = saved[2];
    const bool with_residual = context->saved_data["residual"].toBool();
    const at::Tensor grad_y = gradients[0].defined() ? gradients[0].contiguous() : at::zeros_like(x);
    const at::Tensor grad_sum =
        with_residual && gradients[1].defined() ? gradients[1].contiguous() : at::Tensor();
    at::Tensor grad_x = at::empty_like(x);
    const auto run = is_bf16(x) ? kernels().backward_bf16 : kernels().backward_f32;
    const at::Tensor grad_weight =
        sum_over_row_blocks(x, rows_of(x), x.size(-1), [&](int64_t begin, int64_t end, float* part) {
          run({x.const_data_ptr(), weight.const_data_ptr(), grad_y.const_data_ptr(),
               grad_sum.defined() ? grad_sum.const_data_ptr() : nullptr, inverse_rms.const_data_ptr<float>(),
               grad_x.mutable_data_ptr(), part, x.size(-1)},
              begin, end);
        });
    return {with_residual ? grad_x : at::Tensor(), grad_x, grad_weight.to(weight.scalar_type()),
            at::Tensor()};
  }
};

bool use_kernels(const at::Tensor& x, const at::Tensor& weight) {
  const bool fits = fits_kernels(x) && x.scalar_type() == weight.scalar_type();
  report_choice("rms_norm", fits ? name_of(current_isa()) : "reference",
                fits ? "" : "the type or device has no kernel");
  return fits;
}

void check(const at::Tensor& x, const at::Tensor& weight) {
  base::require(weight.dim() == 1 && x.dim() >= 1 && x.size(-1) == weight.size(0),
                "rms_norm: the weight must have the size of x's last dim");
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  check(x, weight);
  if (x.is_cuda()) return at::rms_norm(x, weight.sizes(), weight, epsilon);  // one fused kernel there
  if (!use_kernels(x, weight)) return reference::rms_norm(x, weight, epsilon);
  return RmsNormFunction::apply(std::optional<at::Tensor>(), x, weight, epsilon)[0];
}

std::tuple<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& residual, const at::Tensor& x,
                                                const at::Tensor& weight, double epsilon) {
  check(x, weight);
  base::require(residual.sizes() == x.sizes(), "add_rms_norm: residual and x differ in shape");
  if (!use_kernels(x, weight) || residual.scalar_type() != x.scalar_type()) {
    const at::Tensor sum = residual + x;
    return {x.is_cuda() ? rms_norm(sum, weight, epsilon) : reference::rms_norm(sum, weight, epsilon), sum};
  }
  auto results = RmsNormFunction::apply(std::optional<at::Tensor>(residual), x, weight, epsilon);
  return {results[0], results[1]};
}

}  // namespace megadlm::ops
