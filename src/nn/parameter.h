#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace megadlm::nn {

/// A trainable tensor. `value` is what the forward pass reads, a leaf that requires a gradient.
struct Parameter {
  std::string name;
  at::Tensor value;
  bool decay = true;  ///< whether weight decay applies (matrices yes; norms and biases no)
};

}  // namespace megadlm::nn
