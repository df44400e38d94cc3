#include "nn/mlp/mlp.h"

#include <cmath>

#include "ops/activation/activation.h"
#include "ops/gated_activation/gated_activation.h"

namespace megadlm::nn {
namespace {

at::Tensor activate(config::Activation activation, const at::Tensor& x) {
  switch (activation) {
    case config::Activation::swiglu:
      return ops::gated_activation(x, ops::GateKind::silu);
    case config::Activation::geglu:
      return ops::gated_activation(x, ops::GateKind::gelu);
    case config::Activation::gelu:
      return ops::gelu(x);
    case config::Activation::squared_relu:
      break;
  }
  return ops::squared_relu(x);
}

}  // namespace

double output_standard_deviation(const config::Architecture& architecture) {
  return architecture.init_method_std / std::sqrt(2.0 * static_cast<double>(architecture.num_layers));
}

Mlp::Mlp(const config::Architecture& architecture, uint64_t seed, const std::string& name,
         std::vector<Parameter>& parameters)
    : activation_(architecture.activation()),
      fc1_(architecture.hidden_size, architecture.ffn_hidden_size * (architecture.gated() ? 2 : 1),
           !architecture.disable_bias_linear, architecture.init_method_std, seed, name + ".linear_fc1",
           parameters),
      fc2_(architecture.ffn_hidden_size, architecture.hidden_size, !architecture.disable_bias_linear,
           output_standard_deviation(architecture), seed, name + ".linear_fc2", parameters) {}

at::Tensor Mlp::forward(const Normed& x, const std::vector<Parameter>& parameters) const {
  const at::Tensor up = fc1_.forward(x.value, parameters, x.again);
  return fc2_.forward(activate(activation_, up), parameters,
                      [activation = activation_, up = up.detach()] { return activate(activation, up); });
}

}  // namespace megadlm::nn
