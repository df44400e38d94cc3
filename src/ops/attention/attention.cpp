#include "ops/attention/attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "ops/attention/kernels.h"
#include "ops/attention/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/scratch.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const AttentionKernels::Implementation& kernels(const at::Tensor& tensor) {
  const AttentionKernels& all = MEGADLM_CHOOSE_KERNELS(attention_kernels);
  return is_bf16(tensor) ? all.bf16 : all.f32;
}

/// How many of the keys each query sees, counted from the first: [queries] i32.
at::Tensor key_limits(const Visibility& visibility, int64_t queries, int64_t keys) {
  at::Tensor limits = at::empty({queries}, at::kInt);
  auto* limit = limits.mutable_data_ptr<int32_t>();
  for (int64_t i = 0; i < queries; ++i) {
    const int64_t position = i + keys - queries;
    int64_t seen = keys;
    if (visibility.kind == Visibility::Kind::causal) seen = position + 1;
    if (visibility.kind == Visibility::Kind::block_causal && position >= 0)
      seen = (position / visibility.block_size + 1) * visibility.block_size;
    if (position < 0 && visibility.kind != Visibility::Kind::full) seen = 0;
    limit[i] = static_cast<int32_t>(std::clamp<int64_t>(seen, 0, keys));
  }
  return limits;
}

AttentionKernels::View view(const at::Tensor& tensor) {
  return {const_cast<void*>(tensor.const_data_ptr()), tensor.stride(0), tensor.stride(1), tensor.stride(2)};
}

/// The same numbers with each row's channels side by side.
at::Tensor with_dense_rows(const at::Tensor& tensor) {
  return tensor.size(3) <= 1 || tensor.stride(3) == 1 ? tensor : tensor.contiguous();
}

struct AttentionFunction : torch::autograd::Function<AttentionFunction> {
  static AttentionKernels::Shape shape_of(const at::Tensor& query, const at::Tensor& key,
                                          const at::Tensor& limits, const at::Tensor& segments,
                                          double scale) {
    return {query.size(0),
            query.size(1),
            key.size(1),
            query.size(2),
            key.size(2),
            query.size(3),
            static_cast<float>(scale),
            limits.const_data_ptr<int32_t>(),
            segments.defined() ? segments.const_data_ptr<int32_t>() : nullptr};
  }

  static at::Tensor forward(AutogradContext* context, const at::Tensor& query_in, const at::Tensor& key_in,
                            const at::Tensor& value_in, const at::Tensor& limits,
                            const std::optional<at::Tensor>& segments_in, double scale,
                            const Recompute<QueryKeyValue>& again) {
    const at::Tensor query = with_dense_rows(query_in), key = with_dense_rows(key_in),
                     value = with_dense_rows(value_in), segments = segments_in.value_or(at::Tensor());
    const auto shape = shape_of(query, key, limits, segments, scale);
    const auto& kernel = kernels(query);
    at::Tensor output = at::empty(query.sizes(), query.options());
    at::Tensor log_sums = at::empty({shape.batch, shape.heads, shape.queries}, at::kFloat);
    at::Tensor packed = at::empty({kernel.packed_words(shape)}, at::kInt);
    const AttentionKernels::Forward arguments{shape,
                                              view(query),
                                              view(key),
                                              view(value),
                                              view(output),
                                              log_sums.mutable_data_ptr<float>(),
                                              packed.mutable_data_ptr<int32_t>()};
    at::parallel_for(0, kernel.pack_parts(shape), 1,
                     [&](int64_t begin, int64_t end) { kernel.pack(arguments, begin, end); });
    in_parallel(kernel.forward_parts(shape), kernel.forward_scratch(shape),
                [&](int32_t* scratch, int64_t begin, int64_t end) {
                  kernel.forward(arguments, scratch, begin, end);
                });
    const at::Tensor none;
    context->save_for_backward(
        {again ? none : query, again ? none : key, again ? none : value, output, log_sums, limits, segments});
    if (again) keep_recompute(context, again);
    context->saved_data["scale"] = scale;
    return output;
  }

  static QueryKeyValue inputs(AutogradContext* context, const variable_list& saved) {
    if (!keeps_recompute(context)) return {saved[0], saved[1], saved[2]};
    const auto [query, key, value] = recompute<QueryKeyValue>(context);
    return {with_dense_rows(query), with_dense_rows(key), with_dense_rows(value)};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto [query, key, value] = inputs(context, saved);
    const at::Tensor grad_output = with_dense_rows(gradients[0]);
    at::Tensor grad_query = at::empty(query.sizes(), query.options());
    at::Tensor grad_key = at::empty(key.sizes(), key.options());
    at::Tensor grad_value = at::empty(value.sizes(), value.options());
    const auto shape = shape_of(query, key, saved[5], saved[6], context->saved_data["scale"].toDouble());
    const AttentionKernels::Backward arguments{shape,
                                               view(query),
                                               view(key),
                                               view(value),
                                               view(saved[3]),
                                               view(grad_output),
                                               saved[4].const_data_ptr<float>(),
                                               view(grad_query),
                                               view(grad_key),
                                               view(grad_value)};
    const auto& kernel = kernels(query);
    in_parallel(kernel.backward_parts(shape), kernel.backward_scratch(shape),
                [&](int32_t* scratch, int64_t begin, int64_t end) {
                  kernel.backward(arguments, scratch, begin, end);
                });
    const at::Tensor none;
    return {grad_query, grad_key, grad_value, none, none, none, none};
  }
};

void check(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
           const Visibility& visibility) {
  base::require(query.dim() == 4 && key.dim() == 4 && value.sizes() == key.sizes(),
                "attention: query must be [b, s, heads, d], key and value [b, t, groups, d]");
  base::require(query.size(0) == key.size(0) && query.size(3) == key.size(3) && key.size(2) > 0 &&
                    query.size(2) % key.size(2) == 0,
                "attention: {} heads of {} channels and {} groups of {} do not fit", query.size(2),
                query.size(3), key.size(2), key.size(3));
  const int64_t queries = query.size(1), keys = key.size(1);
  base::require(!visibility.segments.defined() || (queries == keys && visibility.segments.size(1) == keys),
                "attention: segments need as many keys as queries, seen {} and {}", keys, queries);
}

/// Whether the kernels take this call; says so.
bool use_kernels(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  const bool fits = fits_kernels(query) && key.scalar_type() == query.scalar_type() &&
                    value.scalar_type() == query.scalar_type() && query.numel() > 0 && key.numel() > 0;
  report_choice("attention", fits ? name_of(current_isa()) : "reference",
                fits ? "" : "the type or device has no kernel");
  return fits;
}

}  // namespace

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const Visibility& visibility, double scale, const Recompute<QueryKeyValue>& again) {
  check(query, key, value, visibility);
  if (!use_kernels(query, key, value)) return reference::attention(query, key, value, visibility, scale);
  const std::optional<at::Tensor> segments =
      visibility.segments.defined()
          ? std::optional(visibility.segments.expand({query.size(0), key.size(1)}).to(at::kInt).contiguous())
          : std::nullopt;
  return AttentionFunction::apply(query, key, value, key_limits(visibility, query.size(1), key.size(1)),
                                  segments, scale, again);
}

}  // namespace megadlm::ops
