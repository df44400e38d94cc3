#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/safetensors/safetensors.h"

namespace megadlm::checkpoint {

// A run's folder holds a folder a checkpoint and a pointer to the newest (Megatron-LM's names):
//
//   latest_checkpointed_iteration.txt
//   iter_0000100/model.safetensors, optimizer.safetensors, architecture.json, state.json, config.yaml,
//   further files such as tokenizer.json, and index.json: format version, and every file's size and checksum.

/// What a checkpoint holds.
struct Snapshot {
  std::vector<NamedTensor> model;
  std::vector<NamedTensor> optimizer;  ///< empty: no optimizer file
  nlohmann::json architecture;
  nlohmann::json state;
  std::string config_yaml;
  std::map<std::string, std::string> extra_files;
};

/// Writes a checkpoint under a temporary name, syncs and renames it, moves the pointer, then removes all but
/// the newest `keep_last` (0: none). Whatever fails, the earlier checkpoints and the pointer stay as they
/// were and nothing half-written is left.
void save_checkpoint(const std::filesystem::path& folder, int64_t iteration, const Snapshot& snapshot,
                     int64_t keep_last);

/// The checkpoint that `folder` (a run's folder, or a checkpoint's own) stands for; nothing when there is
/// none. An Error when the pointer names one that is not there.
std::optional<std::filesystem::path> find_checkpoint(const std::filesystem::path& folder);

/// Reads a checkpoint's own folder after checking size and checksum of each file; the error names the file.
Snapshot load_checkpoint(const std::filesystem::path& checkpoint, bool with_optimizer);

/// Only the state of a checkpoint's own folder.
nlohmann::json load_state(const std::filesystem::path& checkpoint);

}  // namespace megadlm::checkpoint
