#include "ops/embedding/embedding.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <numeric>

#include "base/error.h"
#include "ops/embedding/kernels.h"
#include "ops/embedding/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/row_blocks.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const EmbeddingKernels& kernels() { return MEGADLM_CHOOSE_KERNELS(embedding_kernels); }

/// Positions sorted by token, those of one token in order; `starts` gets where each token's begin.
std::vector<int32_t> sort_positions(const at::Tensor& tokens, std::vector<int64_t>& starts) {
  const auto* token = tokens.const_data_ptr<int64_t>();
  const int64_t count = tokens.numel();
  for (int64_t i = 0; i < count; ++i) ++starts[token[i] + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<int64_t> next(starts.begin(), starts.end() - 1);
  std::vector<int32_t> positions(count);
  for (int64_t i = 0; i < count; ++i) positions[next[token[i]]++] = static_cast<int32_t>(i);
  return positions;
}

/// The gradient [rows, size] of the weight; tokens [n] i64 and grad_y [n, size].
at::Tensor weight_gradient(const at::Tensor& tokens, const at::Tensor& grad_y, int64_t rows) {
  const bool fits = fits_kernels(grad_y) && tokens.numel() <= std::numeric_limits<int32_t>::max();
  report_choice("embedding", fits ? name_of(current_isa()) : "reference",
                fits ? "" : "the type or device has no kernel");
  if (!fits) return reference::embedding_weight_gradient(tokens, grad_y, rows);
  std::vector<int64_t> starts(static_cast<size_t>(rows + 1));
  const std::vector<int32_t> positions = sort_positions(tokens, starts);
  at::Tensor result = at::empty({rows, grad_y.size(1)}, grad_y.options());
  const EmbeddingKernels::Backward arguments{grad_y.const_data_ptr(), starts.data(), positions.data(),
                                             result.mutable_data_ptr(), grad_y.size(1)};
  const auto run = is_bf16(grad_y) ? kernels().backward_bf16 : kernels().backward_f32;
  at::parallel_for(0, rows, row_grain(grad_y.size(1)),
                   [&](int64_t begin, int64_t end) { run(arguments, begin, end); });
  return result;
}

/// A lookup whose gradient sums the rows of equal tokens in fp32, in the order of their positions.
struct EmbeddingFunction : torch::autograd::Function<EmbeddingFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tokens, const at::Tensor& weight) {
    context->save_for_backward({tokens});
    context->saved_data["rows"] = weight.size(0);
    return at::embedding(weight, tokens);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor tokens = context->get_saved_variables()[0].reshape({-1}).contiguous();
    const at::Tensor grad_y = gradients[0].reshape({tokens.numel(), -1}).contiguous();
    return {at::Tensor(), weight_gradient(tokens, grad_y, context->saved_data["rows"].toInt())};
  }
};

}  // namespace

at::Tensor embedding(const at::Tensor& tokens, const at::Tensor& weight) {
  base::require(weight.dim() == 2, "embedding: the weight must be [V, h]");
  return EmbeddingFunction::apply(tokens, weight);
}

}  // namespace megadlm::ops
