#include "ops/embedding/embedding.h"

#include <ATen/ATen.h>

namespace megadlm::ops {

at::Tensor embedding(const at::Tensor& tokens, const at::Tensor& weight) { return at::embedding(weight, tokens); }

}  // namespace megadlm::ops
