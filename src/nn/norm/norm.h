#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "config/architecture/architecture.h"
#include "nn/parameter.h"

namespace megadlm::nn {

/// RMSNorm or LayerNorm over the last dim.
class Norm {
 public:
  /// Appends its parameters as `<name>.weight` (ones) and, for LayerNorm, `<name>.bias` (zeros).
  Norm(config::Normalization kind, int64_t size, double epsilon, const std::string& name,
       std::vector<Parameter>& parameters);

  at::Tensor forward(const at::Tensor& x, const std::vector<Parameter>& parameters) const;
  /// (norm(residual + x), residual + x).
  std::pair<at::Tensor, at::Tensor> add_forward(const at::Tensor& residual, const at::Tensor& x,
                                                const std::vector<Parameter>& parameters) const;

  at::Tensor weight(const std::vector<Parameter>& parameters) const { return parameters[weight_].value; }
  /// Undefined for RMSNorm.
  at::Tensor bias(const std::vector<Parameter>& parameters) const;
  config::Normalization kind() const { return kind_; }

 private:
  config::Normalization kind_;
  double epsilon_;
  size_t weight_;
  size_t bias_ = 0;
};

}  // namespace megadlm::nn
