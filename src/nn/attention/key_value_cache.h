#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace megadlm::nn {

/// Keys and values of the tokens seen so far, a pair [b, length, groups, head] a layer.
struct KeyValueCache {
  struct Layer {
    at::Tensor keys, values;
  };
  std::vector<Layer> layers;
  int64_t length = 0;
};

}  // namespace megadlm::nn
