#include "ops/linear/linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "ops/gemm/gemm.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const Recompute<at::Tensor>& again) {
    context->save_for_backward({again ? at::Tensor() : x, weight});
    if (again) keep_recompute(context, again);
    context->saved_data["bias"] = bias.has_value();
    return matrix_product(x, weight.t(), bias.value_or(at::Tensor()));
  }

  static at::Tensor input(AutogradContext* context, const at::Tensor& saved, const at::Tensor& weight) {
    return saved.defined() ? saved : recompute<at::Tensor>(context).reshape({-1, weight.size(1)});
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &weight = saved[1], &grad = gradients[0];
    const auto wanted = [&](size_t input, const auto& make) {
      return context->needs_input_grad(input) ? make() : at::Tensor();
    };
    return {wanted(0, [&] { return matrix_product(grad, weight); }),
            wanted(1, [&] { return matrix_product(grad.t(), input(context, saved[0], weight)); }),
            context->saved_data["bias"].toBool() ? grad.sum(0) : at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const Recompute<at::Tensor>& again) {
  base::require(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1),
                "linear: the weight must be [out, in] with in the size of x's last dim");
  const std::optional<at::Tensor> added = bias.defined() ? std::optional(bias) : std::nullopt;
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  return LinearFunction::apply(x.reshape({-1, x.size(-1)}), weight, added, again).view(sizes);
}

}  // namespace megadlm::ops
