#include "ops/qkv_rotary/qkv_rotary.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "ops/qkv_rotary/kernels.h"
#include "ops/qkv_rotary/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/row_blocks.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const QkvRotaryKernels& kernels(const at::Tensor& qkv) {
  if (qkv.is_cuda()) return cuda::qkv_rotary_kernels;
  return MEGADLM_CHOOSE_KERNELS(qkv_rotary_kernels);
}

const void* pointer(const at::Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr() : nullptr; }

std::optional<at::Tensor> given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional<at::Tensor>(tensor.contiguous()) : std::nullopt;
}

/// The table's row of each token, [b x s] i64.
at::Tensor table_rows(const at::Tensor& qkv, const QkvRotary& options) {
  const int64_t rows = qkv.size(0), length = qkv.size(1);
  if (options.positions.defined()) return options.positions.expand({rows, length}).contiguous();
  return at::arange(options.first_position, options.first_position + length, qkv.options().dtype(at::kLong))
      .unsqueeze(0)
      .expand({rows, length})
      .contiguous();
}

struct QkvRotaryFunction : torch::autograd::Function<QkvRotaryFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& qkv,
                               const std::optional<at::Tensor>& query_weight,
                               const std::optional<at::Tensor>& key_weight,
                               const std::optional<at::Tensor>& table, const at::Tensor& rows, int64_t heads,
                               int64_t groups, int64_t head_size, double epsilon) {
    const at::Tensor packed = qkv.contiguous();
    const auto make = [&](int64_t count) {
      return at::empty({packed.size(0), packed.size(1), count, head_size}, packed.options());
    };
    at::Tensor query = make(heads), key = make(groups), value = make(groups);
    const at::Tensor none;
    const variable_list saved{packed, query_weight.value_or(none), key_weight.value_or(none),
                              table.value_or(none), rows};
    context->save_for_backward(saved);
    context->saved_data["heads"] = heads;
    context->saved_data["groups"] = groups;
    context->saved_data["head_size"] = head_size;
    context->saved_data["epsilon"] = epsilon;
    const QkvRotaryKernels::Forward arguments{shape_from(saved, context), packed.const_data_ptr(),
                                              query.mutable_data_ptr(), key.mutable_data_ptr(),
                                              value.mutable_data_ptr()};
    const auto run = is_bf16(packed) ? kernels(packed).forward_bf16 : kernels(packed).forward_f32;
    for_rows(packed, rows.numel(), row_grain(packed.size(-1)),
             [&](int64_t begin, int64_t end) { run(arguments, begin, end); });
    return {query, key, value};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &packed = saved[0], &query_weight = saved[1], &key_weight = saved[2], &rows = saved[4];
    const int64_t size = context->saved_data["head_size"].toInt();
    const int64_t heads = context->saved_data["heads"].toInt(),
                  groups = context->saved_data["groups"].toInt();
    const auto gradient = [&](size_t i, int64_t count) {
      return gradients[i].defined()
                 ? gradients[i].contiguous()
                 : at::zeros({packed.size(0), packed.size(1), count, size}, packed.options());
    };
    const at::Tensor grad_query = gradient(0, heads), grad_key = gradient(1, groups),
                     grad_value = gradient(2, groups);
    at::Tensor grad_packed = at::empty_like(packed);
    const auto shape = shape_from(saved, context);
    const auto run = is_bf16(packed) ? kernels(packed).backward_bf16 : kernels(packed).backward_f32;
    const at::Tensor sums =
        sum_over_row_blocks(packed, rows.numel(), 2 * size, [&](int64_t begin, int64_t end, float* part) {
          run({shape, packed.const_data_ptr(), grad_query.const_data_ptr(), grad_key.const_data_ptr(),
               grad_value.const_data_ptr(), grad_packed.mutable_data_ptr(), part, part + size},
              begin, end);
        });
    const auto weight_gradient = [&](const at::Tensor& weight, int64_t begin) {
      return weight.defined() ? sums.slice(0, begin, begin + size).to(weight.scalar_type()) : at::Tensor();
    };
    const at::Tensor none;
    return {grad_packed,
            weight_gradient(query_weight, 0),
            weight_gradient(key_weight, size),
            none,
            none,
            none,
            none,
            none,
            none};
  }

  static QkvRotaryKernels::Shape shape_from(const variable_list& saved, AutogradContext* context) {
    QkvRotaryKernels::Shape shape{};
    shape.heads = context->saved_data["heads"].toInt();
    shape.groups = context->saved_data["groups"].toInt();
    shape.head_size = context->saved_data["head_size"].toInt();
    shape.channels = saved[3].defined() ? saved[3].size(1) : 0;
    shape.table = shape.channels > 0 ? saved[3].const_data_ptr<float>() : nullptr;
    shape.rows = saved[4].const_data_ptr<int64_t>();
    shape.query_weight = pointer(saved[1]);
    shape.key_weight = pointer(saved[2]);
    shape.epsilon = static_cast<float>(context->saved_data["epsilon"].toDouble());
    return shape;
  }
};

/// Positions must have angles, and no more channels be turned than a head has.
void check_table(const at::Tensor& qkv, const QkvRotary& options) {
  const at::Tensor& table = options.rotary_table;
  if (!table.defined() || table.size(1) == 0 || qkv.numel() == 0) return;
  base::require(table.size(1) <= options.head_size && table.size(1) % 2 == 0,
                "qkv_rotary: {} rotated channels of a head of {}", table.size(1), options.head_size);
  int64_t lowest = options.first_position, highest = options.first_position + qkv.size(1) - 1;
  if (options.positions.defined()) {
    const auto [least, most] = at::aminmax(options.positions);
    lowest = least.item<int64_t>();
    highest = most.item<int64_t>();
  }
  base::require(lowest >= 0 && highest < table.size(0),
                "qkv_rotary: positions {} to {}, but there are angles for {}", lowest, highest,
                table.size(0));
}

/// Why the kernels cannot take this call; empty when they can.
std::string_view refusal(const at::Tensor& qkv, const QkvRotary& options) {
  if (!fits_kernels(qkv) && !fits_cuda_kernels(qkv)) return "the type or device has no kernel";
  if (options.query_norm_bias.defined() || options.key_norm_bias.defined())
    return "LayerNorm of heads has no kernel";
  if (options.head_size > kLargestHead) return "the head is too large for the kernel";
  for (const at::Tensor& weight : {options.query_norm_weight, options.key_norm_weight}) {
    if (weight.defined() && weight.scalar_type() != qkv.scalar_type())
      return "weights and input differ in type";
  }
  return "";
}

}  // namespace

at::Tensor rotary_table(int64_t positions, int64_t channels, double base) {
  const at::Tensor exponents = at::arange(0, channels, 2, at::kFloat) / static_cast<double>(channels);
  const at::Tensor frequencies = at::reciprocal(at::pow(base, exponents));
  const at::Tensor angles = at::outer(at::arange(positions, at::kFloat), frequencies);
  return at::cat({angles.cos(), angles.sin()}, 1);
}

QueryKeyValue qkv_rotary(const at::Tensor& qkv, const QkvRotary& options) {
  base::require(qkv.dim() == 3 && options.groups > 0 && options.heads % options.groups == 0 &&
                    qkv.size(2) == (options.heads + 2 * options.groups) * options.head_size,
                "qkv_rotary: the last dim must be (heads + 2 groups) x head size");
  check_table(qkv, options);
  for (const at::Tensor& weight : {options.query_norm_weight, options.key_norm_weight}) {
    base::require(!weight.defined() || (weight.dim() == 1 && weight.size(0) == options.head_size),
                  "qkv_rotary: a norm weight must be [head size]");
  }
  const std::string_view reason = refusal(qkv, options);
  report_choice("qkv_rotary", reason.empty() ? kernels_name(qkv) : "reference", reason);
  if (!reason.empty()) return reference::qkv_rotary(qkv, options);
  const auto results = QkvRotaryFunction::apply(
      qkv, given(options.query_norm_weight), given(options.key_norm_weight), given(options.rotary_table),
      table_rows(qkv, options), options.heads, options.groups, options.head_size, options.epsilon);
  return {results[0], results[1], results[2]};
}

}  // namespace megadlm::ops
