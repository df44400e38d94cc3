#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace megadlm::ops {

/// Which keys a query sees.
struct Visibility {
  enum class Kind { full, causal, block_causal };
  Kind kind = Kind::full;
  int64_t block_size = 0;  ///< of block_causal: a query sees its own block and those before
  at::Tensor segments;     ///< [b, s] i64 or undefined; a query sees keys of its own segment only
};

}  // namespace megadlm::ops
