#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace megadlm::ops {

/// y = round(x / sqrt(mean(x^2) + eps)) * weight over the last dim; fp32 inside, the normalised value rounded
/// to x's type before the weight, as Hugging Face's Llama does. (Zhang and Sennrich, 2019.)
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon);

/// (rms_norm(residual + x), residual + x).
std::tuple<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& residual, const at::Tensor& x,
                                                const at::Tensor& weight, double epsilon);

}  // namespace megadlm::ops
