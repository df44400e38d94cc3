#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace megadlm::base {

/// A JSON document; `place` starts the error where it is none.
nlohmann::json parse_json(const std::string& text, const std::string& place);

/// The JSON document that a file holds.
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace megadlm::base
