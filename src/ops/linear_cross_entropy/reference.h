#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace megadlm::ops::reference {

/// The plain compositions over all logits at once, for every type and device; gradients are ATen's.
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                const at::Tensor& weights, int64_t valid_vocab);
/// [n] f32, or f64 of double.
at::Tensor linear_cross_entropy_rows(const at::Tensor& hidden, const at::Tensor& weight,
                                     const at::Tensor& targets, int64_t valid_vocab);

}  // namespace megadlm::ops::reference
