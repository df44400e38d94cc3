#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace megadlm::nn {

/// A fp32 tensor of normal numbers with mean 0, keyed by (seed, the parameter's name, element): the same
/// whichever other parameters exist and however they are spread over processes.
at::Tensor normal_parameter(at::IntArrayRef shape, double standard_deviation, uint64_t seed,
                            const std::string& name);

}  // namespace megadlm::nn
