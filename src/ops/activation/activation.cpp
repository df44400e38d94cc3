#include "ops/activation/activation.h"

#include <ATen/ATen.h>

namespace megadlm::ops {

at::Tensor gelu(const at::Tensor& x) { return at::gelu(x); }

at::Tensor squared_relu(const at::Tensor& x) { return at::relu(x).square(); }

}  // namespace megadlm::ops
