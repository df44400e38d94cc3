#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/architecture/architecture.h"

namespace megadlm::models {

/// A decoder's shape from a Hugging Face config.json of the Llama family (model_type llama, mistral, qwen2,
/// qwen3). `place` names the file in errors. The vocabulary is not padded.
config::Architecture architecture_from_hugging_face(const nlohmann::json& config, const std::string& place);

/// Gives the Hugging Face tensor of a name; throws when there is none.
using TensorSource = std::function<at::Tensor(const std::string& name)>;

/// The native parameter `name` ([rows, ...] as `architecture` says), fused from its Hugging Face parts: per
/// group queries, key, value; gate half, then up half. A tied output layer is not asked for.
at::Tensor from_hugging_face(const config::Architecture& architecture, const std::string& name,
                             const TensorSource& source);

/// The inverse: the Hugging Face tensors that a native parameter (or its gradient) consists of.
std::vector<std::pair<std::string, at::Tensor>> to_hugging_face(const config::Architecture& architecture,
                                                                const std::string& name,
                                                                const at::Tensor& tensor);

}  // namespace megadlm::models
