#pragma once

#include <c10/core/ScalarType.h>

#include "config/options/training.h"

namespace megadlm::precision {

/// The type that forward and backward compute in.
inline at::ScalarType compute_type(config::Precision precision) {
  switch (precision) {
    case config::Precision::bf16:
      return at::kBFloat16;
    case config::Precision::fp16:
      return at::kHalf;
    case config::Precision::fp32:
      break;
  }
  return at::kFloat;
}

/// "fp32", "bf16" or "fp16".
inline const char* name(config::Precision precision) {
  switch (precision) {
    case config::Precision::bf16:
      return "bf16";
    case config::Precision::fp16:
      return "fp16";
    case config::Precision::fp32:
      break;
  }
  return "fp32";
}

}  // namespace megadlm::precision
