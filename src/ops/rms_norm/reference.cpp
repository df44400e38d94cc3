#include "ops/rms_norm/reference.h"

#include <ATen/ATen.h>

namespace megadlm::ops::reference {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  const at::Tensor wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const at::Tensor scale = at::rsqrt(wide.square().mean(-1, true) + epsilon);
  return (wide * scale).to(x.scalar_type()) * weight;
}

}  // namespace megadlm::ops::reference
