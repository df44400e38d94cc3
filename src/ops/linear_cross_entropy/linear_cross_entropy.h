#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace megadlm::ops {

/// Sum over rows of weights[i] x cross-entropy(hidden[i] W^T, targets[i]) as a fp32 scalar. hidden [n, h],
/// W = weight [V, h], targets [n] i64, weights [n] f32; logits exist in chunks of rows only. Columns from
/// `valid_vocab` on are padding and take no part.
at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                const at::Tensor& weights, int64_t valid_vocab);

/// The cross-entropy of each row, [n] f32, without gradient; arguments as above.
at::Tensor linear_cross_entropy_rows(const at::Tensor& hidden, const at::Tensor& weight,
                                     const at::Tensor& targets, int64_t valid_vocab);

}  // namespace megadlm::ops
