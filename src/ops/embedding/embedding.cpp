#include "ops/embedding/embedding.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// A lookup whose gradient sums the rows of equal tokens in fp32, in the order of their positions.
struct EmbeddingFunction : torch::autograd::Function<EmbeddingFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tokens, const at::Tensor& weight) {
    context->save_for_backward({tokens});
    context->saved_data["rows"] = weight.size(0);
    return at::embedding(weight, tokens);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor tokens = context->get_saved_variables()[0].reshape({-1});
    const at::Tensor gradient = gradients[0].reshape({tokens.numel(), -1});
    const auto [present, places] = at::_unique(tokens, true, true);
    const auto wide = gradient.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    at::Tensor sums = at::zeros({present.numel(), gradient.size(1)}, gradient.options().dtype(wide));
    sums.index_add_(0, places.reshape({-1}), gradient.to(wide));
    at::Tensor result =
        at::zeros({context->saved_data["rows"].toInt(), gradient.size(1)}, gradient.options());
    result.index_copy_(0, present, sums.to(gradient.scalar_type()));
    return {at::Tensor(), result};
  }
};

}  // namespace

at::Tensor embedding(const at::Tensor& tokens, const at::Tensor& weight) {
  base::require(weight.dim() == 2, "embedding: the weight must be [V, h]");
  return EmbeddingFunction::apply(tokens, weight);
}

}  // namespace megadlm::ops
