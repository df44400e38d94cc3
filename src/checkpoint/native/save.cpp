#include <unistd.h>

#include <algorithm>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "checkpoint/native/layout.h"
#include "checkpoint/native/native.h"

namespace megadlm::checkpoint {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed again unless it is renamed into place.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& final_path)
      : final_(final_path), path_(final_path.string() + fmt::format("{}{}", kTemporaryMark, ::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  void commit() {
    base::sync_folder(path_);
    const fs::path old = final_.string() + fmt::format("{}{}-old", kTemporaryMark, ::getpid());
    if (fs::exists(final_)) fs::rename(final_, old);
    fs::rename(path_, final_);
    base::sync_folder(final_.parent_path());
    fs::remove_all(old);
  }

 private:
  fs::path final_, path_;
};

/// Folders that runs which died left behind.
void remove_leftovers(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kFolderPrefix) && name.find(kTemporaryMark) != std::string::npos)
      fs::remove_all(entry.path());
  }
}

void remove_old(const fs::path& folder, int64_t keep_last) {
  if (keep_last <= 0) return;
  std::vector<std::pair<int64_t, fs::path>> checkpoints;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (const auto iteration = folder_iteration(entry.path()))
      checkpoints.emplace_back(*iteration, entry.path());
  }
  std::sort(checkpoints.rbegin(), checkpoints.rend());
  for (size_t i = static_cast<size_t>(keep_last); i < checkpoints.size(); ++i)
    fs::remove_all(checkpoints[i].second);
}

void write_parts(const fs::path& folder, const Snapshot& snapshot) {
  write_safetensors(folder / kModelFile, snapshot.model, {{"format", "megadlm"}});
  if (!snapshot.optimizer.empty()) write_safetensors(folder / kOptimizerFile, snapshot.optimizer, {});
  base::write_file(folder / kArchitectureFile, snapshot.architecture.dump(2) + "\n");
  base::write_file(folder / kStateFile, snapshot.state.dump(2) + "\n");
  base::write_file(folder / kConfigFile, snapshot.config_yaml);
  for (const auto& [name, text] : snapshot.extra_files) base::write_file(folder / name, text);
  nlohmann::json files = nlohmann::json::object();
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename().string()] = {{"bytes", entry.file_size()},
                                               {"xxh3", base::file_checksum(entry.path())}};
  }
  base::write_file(folder / kIndexFile,
                   nlohmann::json{{"version", kFormatVersion}, {"files", files}}.dump(2) + "\n");
}

}  // namespace

void save_checkpoint(const fs::path& folder, int64_t iteration, const Snapshot& snapshot, int64_t keep_last) {
  try {
    fs::create_directories(folder);
    remove_leftovers(folder);
    TemporaryFolder temporary(folder / folder_name(iteration));
    write_parts(temporary.path(), snapshot);
    temporary.commit();
    base::write_file(folder / kPointerFile, fmt::format("{}\n", iteration));
    remove_old(folder, keep_last);
  } catch (const fs::filesystem_error& error) {
    base::fail("{}: cannot save the checkpoint: {}", folder.string(), error.what());
  } catch (const base::Error& error) {
    base::fail("{}: cannot save the checkpoint of iteration {}; earlier ones are untouched. {}",
               folder.string(), iteration, error.what());
  }
}

}  // namespace megadlm::checkpoint
