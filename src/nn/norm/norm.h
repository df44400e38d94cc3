#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "config/architecture/architecture.h"
#include "nn/parameter.h"
#include "ops/recompute.h"

namespace megadlm::nn {

/// What a norm gives: the tensor, and how to make it again from what the norm keeps anyway.
struct Normed {
  at::Tensor value;
  ops::Recompute<at::Tensor> again;
};

/// RMSNorm or LayerNorm over the last dim.
class Norm {
 public:
  /// Appends its parameters as `<name>.weight` (ones) and, for LayerNorm, `<name>.bias` (zeros).
  Norm(config::Normalization kind, int64_t size, double epsilon, const std::string& name,
       std::vector<Parameter>& parameters);

  Normed forward(const at::Tensor& x, const std::vector<Parameter>& parameters) const;
  /// (norm(residual + x), residual + x).
  std::pair<Normed, at::Tensor> add_forward(const at::Tensor& residual, const at::Tensor& x,
                                            const std::vector<Parameter>& parameters) const;

  at::Tensor weight(const std::vector<Parameter>& parameters) const { return parameters[weight_].value; }
  /// Undefined for RMSNorm.
  at::Tensor bias(const std::vector<Parameter>& parameters) const;
  config::Normalization kind() const { return kind_; }

 private:
  ops::Recompute<at::Tensor> again(const at::Tensor& x, const std::vector<Parameter>& parameters) const;

  config::Normalization kind_;
  double epsilon_;
  size_t weight_;
  size_t bias_ = 0;
};

}  // namespace megadlm::nn
