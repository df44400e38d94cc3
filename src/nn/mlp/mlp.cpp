#include "nn/mlp/mlp.h"

#include <cmath>

#include "ops/activation/activation.h"
#include "ops/gated_activation/gated_activation.h"

namespace megadlm::nn {

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

at::Tensor Mlp::forward(const at::Tensor& x, const std::vector<Parameter>& parameters) const {
  const at::Tensor up = fc1_.forward(x, parameters);
  switch (activation_) {
    case config::Activation::swiglu:
      return fc2_.forward(ops::gated_activation(up, ops::GateKind::silu), parameters);
    case config::Activation::geglu:
      return fc2_.forward(ops::gated_activation(up, ops::GateKind::gelu), parameters);
    case config::Activation::gelu:
      return fc2_.forward(ops::gelu(up), parameters);
    case config::Activation::squared_relu:
      break;
  }
  return fc2_.forward(ops::squared_relu(up), parameters);
}

}  // namespace megadlm::nn
