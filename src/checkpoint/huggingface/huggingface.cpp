#include "checkpoint/huggingface/huggingface.h"

#include <ATen/ATen.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace megadlm::checkpoint {
namespace {

using nlohmann::json;

/// Tensor name → shard file name.
std::map<std::string, std::string> read_index(const std::filesystem::path& path) {
  try {
    return json::parse(base::read_file(path)).at("weight_map").get<std::map<std::string, std::string>>();
  } catch (const json::exception& error) {
    base::fail("{}: expected an object 'weight_map' of tensor names to file names: {}", path.string(),
               error.what());
  }
}

}  // namespace

std::vector<NamedTensor> read_safetensors_folder(const std::filesystem::path& folder) {
  const auto whole = folder / "model.safetensors", index_path = folder / "model.safetensors.index.json";
  if (!std::filesystem::exists(index_path)) {
    base::require(std::filesystem::exists(whole),
                  "{}: has neither model.safetensors nor model.safetensors.index.json", folder.string());
    return SafetensorsFile(whole).tensors();
  }
  const auto index = read_index(index_path);
  std::set<std::string> shards;
  for (const auto& [name, shard] : index) shards.insert(shard);
  std::map<std::string, std::string> seen;
  std::vector<NamedTensor> result;
  for (const std::string& shard : shards) {
    base::require(std::filesystem::exists(folder / shard), "{}: names the shard {}, which is not there",
                  index_path.string(), shard);
    for (NamedTensor& named : SafetensorsFile(folder / shard).tensors()) {
      const auto [place, fresh] = seen.emplace(named.name, shard);
      base::require(fresh, "{}: tensor '{}' stands in {} and in {}", folder.string(), named.name,
                    place->second, shard);
      result.push_back(std::move(named));
    }
  }
  for (const auto& [name, shard] : index) {
    base::require(seen.contains(name), "{}: tensor '{}' is not in {}", index_path.string(), name, shard);
  }
  return result;
}

}  // namespace megadlm::checkpoint
