#include "training/stages/initial_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ostream.h>

#include <map>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/huggingface/huggingface.h"
#include "checkpoint/native/native.h"
#include "models/decoder/hf_names.h"

namespace megadlm::training {
namespace {

namespace fs = std::filesystem;

bool is_hugging_face(const fs::path& folder) { return fs::exists(folder / "config.json"); }

fs::path native_folder(const fs::path& folder) {
  const auto found = checkpoint::find_checkpoint(folder);
  base::require(
      found.has_value(),
      "{}: neither a Hugging Face model (config.json) nor a checkpoint (latest_checkpointed_iteration.txt)",
      folder.string());
  return *found;
}

/// The folder's tensors by their own names.
std::map<std::string, at::Tensor> read_tensors(const fs::path& folder, bool hugging_face) {
  std::map<std::string, at::Tensor> result;
  const auto tensors = hugging_face ? checkpoint::read_safetensors_folder(folder)
                                    : checkpoint::load_checkpoint(native_folder(folder), false).model;
  for (const auto& [name, tensor] : tensors) result.emplace(name, tensor);
  return result;
}

}  // namespace

config::Architecture read_architecture(const fs::path& folder) {
  if (is_hugging_face(folder)) {
    const fs::path path = folder / "config.json";
    return models::architecture_from_hugging_face(base::read_json(path), path.string());
  }
  const fs::path path = native_folder(folder) / "architecture.json";
  return config::architecture_from_json(base::read_json(path), path.string());
}

void load_weights(const fs::path& folder, models::LanguageModel& model) {
  const bool hugging_face = is_hugging_face(folder);
  const std::map<std::string, at::Tensor> tensors = read_tensors(folder, hugging_face);
  const models::TensorSource source = [&](const std::string& name) {
    const auto found = tensors.find(name);
    base::require(found != tensors.end(), "{}: has no tensor '{}'", folder.string(), name);
    return found->second;
  };
  const at::NoGradGuard no_gradient;
  for (nn::Parameter& parameter : model.parameters()) {
    const at::Tensor weights = hugging_face
                                   ? models::from_hugging_face(model.architecture(), parameter.name, source)
                                   : source(parameter.name);
    base::require(weights.sizes() == parameter.value.sizes(), "{}: '{}' has shape {}, but the model needs {}",
                  folder.string(), parameter.name, fmt::streamed(weights.sizes()),
                  fmt::streamed(parameter.value.sizes()));
    parameter.value.copy_(weights);
  }
}

}  // namespace megadlm::training
