#include <fmt/format.h>

#include <charconv>
#include <set>
#include <string_view>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "checkpoint/native/layout.h"
#include "checkpoint/native/native.h"

namespace megadlm::checkpoint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<int64_t> parse_number(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r'))
    text.remove_suffix(1);
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Checks every file that the index names; gives their names.
std::set<std::string> verify(const fs::path& checkpoint) {
  const fs::path index_path = checkpoint / kIndexFile;
  base::require(fs::exists(index_path), "{}: is not a checkpoint: it has no {}", checkpoint.string(),
                kIndexFile);
  const json index = base::read_json(index_path);
  const bool good = index.is_object() && index.contains("version") && index.contains("files") &&
                    index["version"].is_number_integer() && index["files"].is_object();
  base::require(good, "{}: expected an object with 'version' and 'files'", index_path.string());
  base::require(index["version"] == kFormatVersion, "{}: format version {} is not supported; accepted: {}",
                index_path.string(), index["version"].dump(), kFormatVersion);
  std::set<std::string> names;
  for (const auto& [name, entry] : index["files"].items()) {
    const fs::path path = checkpoint / name;
    base::require(fs::exists(path), "{}: is missing, but {} names it", path.string(), kIndexFile);
    const uint64_t bytes = entry.value("bytes", uint64_t{0});
    base::require(fs::file_size(path) == bytes, "{}: has {} bytes, but was saved with {}: cut off or changed",
                  path.string(), fs::file_size(path), bytes);
    base::require(base::file_checksum(path) == entry.value("xxh3", ""),
                  "{}: its checksum differs from the one it was saved with: the file was changed",
                  path.string());
    names.insert(name);
  }
  for (const char* name : {kModelFile, kArchitectureFile, kStateFile, kConfigFile}) {
    base::require(names.contains(name), "{}: does not name {}", index_path.string(), name);
  }
  return names;
}

}  // namespace

std::string folder_name(int64_t iteration) { return fmt::format("{}{:07}", kFolderPrefix, iteration); }

std::optional<int64_t> folder_iteration(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kFolderPrefix)) return std::nullopt;
  return parse_number(std::string_view(name).substr(std::string_view(kFolderPrefix).size()));
}

std::optional<fs::path> find_checkpoint(const fs::path& folder) {
  if (fs::exists(folder / kIndexFile)) return folder;
  const fs::path pointer = folder / kPointerFile;
  if (!fs::exists(pointer)) return std::nullopt;
  const std::string text = base::read_file(pointer);
  const auto iteration = parse_number(text);
  base::require(iteration.has_value(), "{}: holds '{}', not an iteration number", pointer.string(), text);
  const fs::path checkpoint = folder / folder_name(*iteration);
  base::require(fs::exists(checkpoint), "{}: names iteration {}, but {} is not there", pointer.string(),
                *iteration, checkpoint.string());
  return checkpoint;
}

Snapshot load_checkpoint(const fs::path& checkpoint, bool with_optimizer) {
  const std::set<std::string> names = verify(checkpoint);
  Snapshot snapshot;
  snapshot.model = SafetensorsFile(checkpoint / kModelFile).tensors();
  if (with_optimizer && names.contains(kOptimizerFile)) {
    snapshot.optimizer = SafetensorsFile(checkpoint / kOptimizerFile).tensors();
  }
  snapshot.architecture = base::read_json(checkpoint / kArchitectureFile);
  snapshot.state = base::read_json(checkpoint / kStateFile);
  snapshot.config_yaml = base::read_file(checkpoint / kConfigFile);
  const std::set<std::string> known{kModelFile, kOptimizerFile, kArchitectureFile, kStateFile, kConfigFile};
  for (const std::string& name : names) {
    if (!known.contains(name)) snapshot.extra_files[name] = base::read_file(checkpoint / name);
  }
  return snapshot;
}

nlohmann::json load_state(const fs::path& checkpoint) {
  base::require(fs::exists(checkpoint / kStateFile), "{}: has no {}", checkpoint.string(), kStateFile);
  return base::read_json(checkpoint / kStateFile);
}

}  // namespace megadlm::checkpoint
