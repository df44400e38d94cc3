#pragma once

#include "config/architecture/architecture.h"
#include "nn/linear/linear.h"
#include "nn/norm/norm.h"

namespace megadlm::nn {

/// Feed-forward layer: fc2(activation(fc1(x))). A gated activation's fc1 gives the gate half first, then the
/// half that it multiplies.
class Mlp {
 public:
  Mlp(const config::Architecture& architecture, uint64_t seed, const std::string& name,
      std::vector<Parameter>& parameters);

  at::Tensor forward(const Normed& x, const std::vector<Parameter>& parameters) const;

 private:
  config::Activation activation_;
  Linear fc1_, fc2_;
};

/// Standard deviation of the projections that end on the residual stream: std / sqrt(2 x layers) (GPT-2).
double output_standard_deviation(const config::Architecture& architecture);

}  // namespace megadlm::nn
