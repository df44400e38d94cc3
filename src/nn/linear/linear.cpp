#include "nn/linear/linear.h"

#include <ATen/ATen.h>

#include "nn/initialization.h"
#include "ops/linear/linear.h"

namespace megadlm::nn {

Linear::Linear(int64_t in, int64_t out, bool bias, double standard_deviation, uint64_t seed,
               const std::string& name, std::vector<Parameter>& parameters)
    : weight_(parameters.size()) {
  parameters.push_back(
      {name + ".weight", normal_parameter({out, in}, standard_deviation, seed, name + ".weight"), true});
  if (bias) {
    bias_ = parameters.size();
    parameters.push_back({name + ".bias", at::zeros({out}).requires_grad_(true), false});
  }
}

at::Tensor Linear::forward(const at::Tensor& x, const std::vector<Parameter>& parameters,
                           const ops::Recompute<at::Tensor>& again) const {
  return ops::linear(x, parameters[weight_].value, bias_ ? parameters[*bias_].value : at::Tensor(), again);
}

}  // namespace megadlm::nn
