#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace megadlm::checkpoint {

inline constexpr const char* kPointerFile = "latest_checkpointed_iteration.txt";
inline constexpr const char* kFolderPrefix = "iter_";
inline constexpr const char* kTemporaryMark = ".tmp-";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kArchitectureFile = "architecture.json";
inline constexpr const char* kStateFile = "state.json";
inline constexpr const char* kConfigFile = "config.yaml";
inline constexpr const char* kIndexFile = "index.json";
inline constexpr int kFormatVersion = 1;

/// iter_0000100.
std::string folder_name(int64_t iteration);
/// The iteration of such a folder; nothing for other paths.
std::optional<int64_t> folder_iteration(const std::filesystem::path& path);

}  // namespace megadlm::checkpoint
