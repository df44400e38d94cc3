#include "nn/norm/norm.h"

#include <ATen/ATen.h>

#include "ops/layer_norm/layer_norm.h"
#include "ops/rms_norm/rms_norm.h"

namespace megadlm::nn {

Norm::Norm(config::Normalization kind, int64_t size, double epsilon, const std::string& name,
           std::vector<Parameter>& parameters)
    : kind_(kind), epsilon_(epsilon), weight_(parameters.size()) {
  parameters.push_back({name + ".weight", at::ones({size}).requires_grad_(true), false});
  if (kind_ == config::Normalization::layer_norm) {
    bias_ = parameters.size();
    parameters.push_back({name + ".bias", at::zeros({size}).requires_grad_(true), false});
  }
}

at::Tensor Norm::bias(const std::vector<Parameter>& parameters) const {
  return kind_ == config::Normalization::layer_norm ? parameters[bias_].value : at::Tensor();
}

ops::Recompute<at::Tensor> Norm::again(const at::Tensor& x, const std::vector<Parameter>& parameters) const {
  const auto detached = [](const at::Tensor& tensor) { return tensor.defined() ? tensor.detach() : tensor; };
  return [kind = kind_, epsilon = epsilon_, x = x.detach(), weight = detached(weight(parameters)),
          bias = detached(bias(parameters))] {
    return kind == config::Normalization::rms_norm ? ops::rms_norm(x, weight, epsilon)
                                                   : ops::layer_norm(x, weight, bias, epsilon);
  };
}

Normed Norm::forward(const at::Tensor& x, const std::vector<Parameter>& parameters) const {
  const at::Tensor normed = kind_ == config::Normalization::rms_norm
                                ? ops::rms_norm(x, weight(parameters), epsilon_)
                                : ops::layer_norm(x, weight(parameters), bias(parameters), epsilon_);
  return {normed, again(x, parameters)};
}

std::pair<Normed, at::Tensor> Norm::add_forward(const at::Tensor& residual, const at::Tensor& x,
                                                const std::vector<Parameter>& parameters) const {
  const auto [normed, sum] =
      kind_ == config::Normalization::rms_norm
          ? ops::add_rms_norm(residual, x, weight(parameters), epsilon_)
          : ops::add_layer_norm(residual, x, weight(parameters), bias(parameters), epsilon_);
  return {{normed, again(sum, parameters)}, sum};
}

}  // namespace megadlm::nn
