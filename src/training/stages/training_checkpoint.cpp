#include "training/stages/training_checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <fmt/ostream.h>

#include "base/error.h"

namespace megadlm::training {
namespace {

using Named = std::vector<std::pair<std::string, at::Tensor>>;

std::vector<checkpoint::NamedTensor> named(const Named& tensors) {
  std::vector<checkpoint::NamedTensor> result;
  for (const auto& [name, tensor] : tensors) result.push_back({name, tensor.detach()});
  return result;
}

/// Copies `source` into `target` by name; both must hold the same names and shapes.
void copy_by_name(const std::vector<checkpoint::NamedTensor>& source, const Named& target,
                  const std::filesystem::path& folder) {
  std::map<std::string, at::Tensor> by_name;
  for (const auto& [name, tensor] : source) by_name.emplace(name, tensor);
  const at::NoGradGuard no_gradient;
  for (const auto& [name, tensor] : target) {
    const auto found = by_name.find(name);
    base::require(found != by_name.end(), "{}: has no tensor '{}'; the checkpoint is of another model",
                  folder.string(), name);
    base::require(found->second.sizes() == tensor.sizes(),
                  "{}: tensor '{}' has shape {}, but this model's is {}; the checkpoint is of another model",
                  folder.string(), name, fmt::streamed(found->second.sizes()), fmt::streamed(tensor.sizes()));
    at::Tensor(tensor).copy_(found->second);
    by_name.erase(found);
  }
  base::require(by_name.empty(),
                "{}: tensor '{}' has no place in this model; the checkpoint is of another model",
                folder.string(), by_name.empty() ? "" : by_name.begin()->first);
}

template <class T>
T field(const nlohmann::json& state, const char* key, const std::filesystem::path& folder) {
  base::require(state.contains(key) && state[key].is_number(), "{}: state.json has no number '{}'",
                folder.string(), key);
  return state[key].get<T>();
}

}  // namespace

checkpoint::Snapshot take_snapshot(const TrainingParts& parts, bool with_optimizer,
                                   const nlohmann::json& description, const std::string& config_yaml,
                                   const std::map<std::string, std::string>& files) {
  checkpoint::Snapshot snapshot;
  snapshot.model = named(parts.optimizer.masters());
  if (with_optimizer) snapshot.optimizer = named(parts.optimizer.states());
  snapshot.architecture = config::to_json(parts.model.architecture());
  snapshot.config_yaml = config_yaml;
  snapshot.extra_files = files;
  const precision::LossScaler::State scaler = parts.scaler.state();
  snapshot.state = description;
  snapshot.state.update({{"iteration", parts.state.iteration},
                         {"consumed_samples", parts.state.consumed_samples},
                         {"scheduled_samples", parts.state.scheduled_samples},
                         {"consumed_tokens", parts.state.consumed_tokens},
                         {"skipped_iterations", parts.state.skipped_iterations},
                         {"optimizer_steps", parts.optimizer.steps()},
                         {"loss_scale", scaler.scale},
                         {"loss_scale_good_steps", scaler.good_steps},
                         {"loss_scale_hysteresis_left", scaler.hysteresis_left}});
  return snapshot;
}

void restore_snapshot(const std::filesystem::path& folder, bool with_optimizer, bool with_progress,
                      const TrainingParts& parts) {
  const bool wants_optimizer = with_optimizer && with_progress;
  const checkpoint::Snapshot snapshot = checkpoint::load_checkpoint(folder, wants_optimizer);
  copy_by_name(snapshot.model, parts.optimizer.masters(), folder);
  parts.optimizer.refresh_compute_copies();
  if (!with_progress) return;
  if (wants_optimizer) {
    base::require(!snapshot.optimizer.empty(),
                  "{}: was saved without optimizer states (--no-save-optim); give --no-load-optim to go on "
                  "without them",
                  folder.string());
    copy_by_name(snapshot.optimizer, parts.optimizer.states(), folder);
    parts.optimizer.set_steps(field<int64_t>(snapshot.state, "optimizer_steps", folder));
  }
  parts.state.iteration = field<int64_t>(snapshot.state, "iteration", folder);
  parts.state.consumed_samples = field<int64_t>(snapshot.state, "consumed_samples", folder);
  parts.state.scheduled_samples = field<int64_t>(snapshot.state, "scheduled_samples", folder);
  parts.state.consumed_tokens = field<int64_t>(snapshot.state, "consumed_tokens", folder);
  parts.state.skipped_iterations = field<int64_t>(snapshot.state, "skipped_iterations", folder);
  parts.scaler.restore({field<double>(snapshot.state, "loss_scale", folder),
                        field<int64_t>(snapshot.state, "loss_scale_good_steps", folder),
                        field<int64_t>(snapshot.state, "loss_scale_hysteresis_left", folder)});
}

}  // namespace megadlm::training
