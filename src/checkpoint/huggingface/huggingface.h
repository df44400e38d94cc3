#pragma once

#include <filesystem>
#include <vector>

#include "checkpoint/safetensors/safetensors.h"

namespace megadlm::checkpoint {

/// All tensors of a Hugging Face model folder: model.safetensors, or the shards that
/// model.safetensors.index.json names. A missing shard, a tensor that is missing from its shard or stands in
/// two is an Error that names it.
std::vector<NamedTensor> read_safetensors_folder(const std::filesystem::path& folder);

}  // namespace megadlm::checkpoint
