#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include <functional>
#include <utility>

namespace megadlm::ops {

/// Makes again what a backward pass needs, from tensors that are kept anyway. An op that is cheap to run
/// again need not have its result kept from the forward pass to the backward pass.
template <class Result>
using Recompute = std::function<Result()>;

namespace detail {
template <class Result>
struct RecomputeHolder : torch::CustomClassHolder {
  explicit RecomputeHolder(Recompute<Result> recompute) : make(std::move(recompute)) {}
  Recompute<Result> make;
};
}  // namespace detail

/// Keeps it for the backward pass of a function.
template <class Result>
void keep_recompute(torch::autograd::AutogradContext* context, Recompute<Result> recompute) {
  context->saved_data["recompute"] =
      c10::IValue::make_capsule(c10::make_intrusive<detail::RecomputeHolder<Result>>(std::move(recompute)));
}

/// Runs what `keep_recompute` kept, without gradients.
template <class Result>
Result recompute(torch::autograd::AutogradContext* context) {
  const at::NoGradGuard no_gradient;
  const auto capsule = context->saved_data["recompute"].toCapsule();
  return static_cast<detail::RecomputeHolder<Result>*>(capsule.get())->make();
}

inline bool keeps_recompute(torch::autograd::AutogradContext* context) {
  return context->saved_data.count("recompute") > 0;
}

}  // namespace megadlm::ops
