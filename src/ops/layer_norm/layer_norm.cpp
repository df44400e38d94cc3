#include "ops/layer_norm/layer_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "ops/layer_norm/kernels.h"
#include "ops/layer_norm/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/row_blocks.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const LayerNormKernels& kernels() { return MEGADLM_CHOOSE_KERNELS(layer_norm_kernels); }

/// (normed, sum) with an optional residual; one node of the graph for both.
struct LayerNormFunction : torch::autograd::Function<LayerNormFunction> {
  static variable_list forward(AutogradContext* context, const std::optional<at::Tensor>& residual,
                               const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                               double epsilon) {
    const at::Tensor input = x.contiguous(), scale = weight.contiguous(), offset = bias.contiguous();
    const at::Tensor added = residual ? residual->contiguous() : at::Tensor();
    const int64_t rows = rows_of(input);
    at::Tensor y = at::empty_like(input), sum = added.defined() ? at::empty_like(input) : input;
    at::Tensor mean = at::empty({rows}, at::kFloat), inverse_deviation = at::empty({rows}, at::kFloat);
    const LayerNormKernels::Forward arguments{input.const_data_ptr(),
                                              added.defined() ? added.const_data_ptr() : nullptr,
                                              scale.const_data_ptr(),
                                              offset.const_data_ptr(),
                                              y.mutable_data_ptr(),
                                              added.defined() ? sum.mutable_data_ptr() : nullptr,
                                              mean.mutable_data_ptr<float>(),
                                              inverse_deviation.mutable_data_ptr<float>(),
                                              input.size(-1),
                                              static_cast<float>(epsilon)};
    const auto run = is_bf16(input) ? kernels().forward_bf16 : kernels().forward_f32;
    at::parallel_for(0, rows, row_grain(input.size(-1)),
                     [&](int64_t begin, int64_t end) { run(arguments, begin, end); });
    context->save_for_backward({sum, scale, mean, inverse_deviation});
    context->saved_data["residual"] = added.defined();
    if (!added.defined()) return {y};
    return {y, sum};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const bool with_residual = context->saved_data["residual"].toBool();
    const at::Tensor grad_y = gradients[0].defined() ? gradients[0].contiguous() : at::zeros_like(x);
    const at::Tensor grad_sum =
        with_residual && gradients[1].defined() ? gradients[1].contiguous() : at::Tensor();
    at::Tensor grad_x = at::empty_like(x);
    const int64_t size = x.size(-1);
    const auto run = is_bf16(x) ? kernels().backward_bf16 : kernels().backward_f32;
    const at::Tensor sums =
        sum_over_row_blocks(x, rows_of(x), 2 * size, [&](int64_t begin, int64_t end, float* part) {
          run({x.const_data_ptr(), weight.const_data_ptr(), grad_y.const_data_ptr(),
               grad_sum.defined() ? grad_sum.const_data_ptr() : nullptr, saved[2].const_data_ptr<float>(),
               saved[3].const_data_ptr<float>(), grad_x.mutable_data_ptr(), part, part + size, size},
              begin, end);
        });
    return {with_residual ? grad_x : at::Tensor(), grad_x, sums.slice(0, 0, size).to(weight.scalar_type()),
            sums.slice(0, size).to(weight.scalar_type()), at::Tensor()};
  }
};

bool use_kernels(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  base::require(
      weight.dim() == 1 && x.dim() >= 1 && x.size(-1) == weight.size(0) && bias.sizes() == weight.sizes(),
      "layer_norm: weight and bias must have the size of x's last dim");
  const bool fits =
      fits_kernels(x) && x.scalar_type() == weight.scalar_type() && x.scalar_type() == bias.scalar_type();
  report_choice("layer_norm", fits ? name_of(current_isa()) : "reference",
                fits ? "" : "the type or device has no kernel");
  return fits;
}

}  // namespace

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  if (!use_kernels(x, weight, bias)) return reference::layer_norm(x, weight, bias, epsilon);
  return LayerNormFunction::apply(std::optional<at::Tensor>(), x, weight, bias, epsilon)[0];
}

std::tuple<at::Tensor, at::Tensor> add_layer_norm(const at::Tensor& residual, const at::Tensor& x,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  double epsilon) {
  base::require(residual.sizes() == x.sizes(), "add_layer_norm: residual and x differ in shape");
  if (!use_kernels(x, weight, bias) || residual.scalar_type() != x.scalar_type()) {
    const at::Tensor sum = residual + x;
    return {reference::layer_norm(sum, weight, bias, epsilon), sum};
  }
  auto results = LayerNormFunction::apply(std::optional<at::Tensor>(residual), x, weight, bias, epsilon);
  return {results[0], results[1]};
}

}  // namespace megadlm::ops
