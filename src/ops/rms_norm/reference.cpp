#include <ATen/ATen.h>

#include "ops/rms_norm/rms_norm.h"

namespace megadlm::ops {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor scale = at::rsqrt(wide.square().mean(-1, true) + epsilon);
  return (wide * scale).to(x.scalar_type()) * weight;
}

std::tuple<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& residual, const at::Tensor& x,
                                                const at::Tensor& weight, double epsilon) {
  const at::Tensor sum = residual + x;
  return {rms_norm(sum, weight, epsilon), sum};
}

}  // namespace megadlm::ops
