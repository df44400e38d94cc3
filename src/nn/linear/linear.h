#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "nn/parameter.h"
#include "ops/recompute.h"

namespace megadlm::nn {

/// y = x W^T + b, with W [out, in].
class Linear {
 public:
  /// Appends `<name>.weight` (normal, keyed by seed and name) and, with `bias`, `<name>.bias` (zeros).
  Linear(int64_t in, int64_t out, bool bias, double standard_deviation, uint64_t seed,
         const std::string& name, std::vector<Parameter>& parameters);

  /// `again`, when given, makes x again for the backward pass, for which x is then not kept.
  at::Tensor forward(const at::Tensor& x, const std::vector<Parameter>& parameters,
                     const ops::Recompute<at::Tensor>& again = {}) const;

 private:
  size_t weight_;
  std::optional<size_t> bias_;
};

}  // namespace megadlm::nn
