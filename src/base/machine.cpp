#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error.h"

namespace megadlm::base {
namespace {

namespace fs = std::filesystem;

/// The value of "name : value" in a file of such lines.
std::optional<std::string> field(const fs::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, name.size(), name) != 0) continue;
    if (line.find_first_not_of(" \t", name.size()) != colon) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return std::nullopt;
}

/// The first words of a file; none when it cannot be read.
std::vector<std::string> words(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> result;
  for (std::string word; result.size() < 4 && file >> word;) result.push_back(word);
  return result;
}

std::optional<double> number(const std::string& text) {
  std::istringstream stream(text);
  double value = 0;
  if (stream >> value && stream.eof()) return value;
  return std::nullopt;
}

/// Folders of the process's control groups for a controller, each followed by its ancestors. Inside a
/// container the path may be of the host; the root folder then still holds the container's own limits.
std::vector<fs::path> control_groups(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(fmt::format(",{},", controller)) == std::string::npos) continue;
    const fs::path mount = root / "sys/fs/cgroup" / (unified ? "" : controller);
    fs::path path = fs::path(line.substr(second + 1)).relative_path();
    for (; !path.empty(); path = path.parent_path()) folders.push_back(mount / path);
    folders.push_back(mount);
  }
  return folders;
}

}  // namespace

uint64_t machine_memory_bytes(const fs::path& root) {
  const auto total = field(root / "proc/meminfo", "MemTotal");
  require(total.has_value(), "{}: no line 'MemTotal'", (root / "proc/meminfo").string());
  uint64_t kibibytes = 0;
  std::istringstream(*total) >> kibibytes;
  require(kibibytes > 0, "{}: MemTotal '{}' is not a size", (root / "proc/meminfo").string(), *total);
  double bytes = static_cast<double>(kibibytes) * 1024;
  for (const fs::path& folder : control_groups(root, "memory")) {
    for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
      const auto content = words(folder / name);
      // "max" (v2) and a huge number (v1) mean no limit.
      if (const auto limit = content.empty() ? std::nullopt : number(content[0]); limit && *limit > 0) {
        bytes = std::min(bytes, *limit);
      }
    }
  }
  return static_cast<uint64_t>(bytes);
}

int64_t available_cores(const fs::path& root) {
  cpu_set_t set;
  CPU_ZERO(&set);
  double cores =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : std::thread::hardware_concurrency();
  for (const fs::path& folder : control_groups(root, "cpu")) {
    std::vector<std::string> quota = words(folder / "cpu.max");
    if (quota.size() < 2) {
      quota = words(folder / "cpu.cfs_quota_us");
      for (const std::string& word : words(folder / "cpu.cfs_period_us")) quota.push_back(word);
    }
    if (quota.size() < 2) continue;
    const auto share = number(quota[0]), period = number(quota[1]);
    if (share && period && *share > 0 && *period > 0) cores = std::min(cores, std::ceil(*share / *period));
  }
  return std::max<int64_t>(1, static_cast<int64_t>(cores));
}

std::string processor_name(const fs::path& root) {
  return field(root / "proc/cpuinfo", "model name").value_or("unknown processor");
}

}  // namespace megadlm::base
