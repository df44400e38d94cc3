#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/option_description.h"

namespace megadlm::config {

/// One `key: value` of a configuration file, its values as written.
struct YamlEntry {
  std::string key;
  std::vector<std::string> texts;
  bool list = false;  ///< written as a sequence
  bool null = false;  ///< written as null, ~ or nothing
  std::string place;  ///< "run.yaml:3: num_layers", to start an error with
};

/// Reads a YAML file that is one mapping of names to scalars, lists of scalars or null. Errors name file and
/// line: syntax, nested values, the same key twice.
std::vector<YamlEntry> read_yaml(const std::filesystem::path& path);

/// Writes every option as a line, a comment before each group. `read_yaml` reads it back.
std::string write_yaml(const std::vector<OptionDescription>& options);

}  // namespace megadlm::config
