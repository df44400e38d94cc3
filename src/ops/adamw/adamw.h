#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace megadlm::ops {

struct AdamWStep {
  double lr = 0, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  int64_t step = 1;  ///< from 1
  float gradient_scale = 1;
};

/// One AdamW update (Loshchilov and Hutter, 2019; PyTorch's form) of fp32 master and moments with a fp32,
/// bf16 or fp16 gradient; `compute_copy`, when given, receives the new master in its type.
void adamw_step(at::Tensor& master, at::Tensor& exp_avg, at::Tensor& exp_avg_sq, const at::Tensor& gradient,
                at::Tensor* compute_copy, const AdamWStep& step);

/// Sum of squares, the same for any number of threads.
double squared_norm(const at::Tensor& gradient);

/// sum += gradient, in fp32.
void accumulate(at::Tensor& sum, const at::Tensor& gradient);

}  // namespace megadlm::ops
