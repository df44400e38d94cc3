#include <ATen/ATen.h>

#include "ops/gated_activation/gated_activation.h"

namespace megadlm::ops {

at::Tensor gated_activation(const at::Tensor& x, GateKind kind) {
  const auto halves = x.chunk(2, -1);
  return (kind == GateKind::silu ? at::silu(halves[0]) : at::gelu(halves[0])) * halves[1];
}

}  // namespace megadlm::ops
