#pragma once

#include <ATen/core/Tensor.h>

namespace megadlm::nn {

/// Sum over positions of weight x cross-entropy, a fp32 scalar. The output layer runs only on the positions
/// whose weight is not zero, in chunks. hidden [b, s, h], weight [V, h], targets [b, s] i64, weights [b, s]
/// f32; rows of `weight` from `valid_vocab_size` on are padding and take no part in the soft maximum.
at::Tensor weighted_loss(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                         const at::Tensor& weights, int64_t valid_vocab_size);

}  // namespace megadlm::nn
