#include "base/json.h"

#include "base/error.h"
#include "base/file.h"

namespace megadlm::base {

nlohmann::json parse_json(const std::string& text, const std::string& place) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: not valid JSON: {}", place, error.what());
  }
}

nlohmann::json read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

}  // namespace megadlm::base
