#include "ops/gated_activation/reference.h"

#include <ATen/ATen.h>

namespace megadlm::ops::reference {

at::Tensor gated_activation(const at::Tensor& x, GateKind kind) {
  const auto halves = x.chunk(2, -1);
  return (kind == GateKind::silu ? at::silu(halves[0]) : at::gelu(halves[0])) * halves[1];
}

}  // namespace megadlm::ops::reference
