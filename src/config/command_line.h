#pragma once

#include <map>
#include <string>
#include <vector>

namespace megadlm::config {

/// A flag's shape, for splitting a command line.
struct FlagSpec {
  enum class Values { none, one, many };
  std::string name;  ///< "num-layers"
  Values values;
  bool negatable = true;  ///< a flag `x` is also `--no-x`
};

/// A command line taken apart; nothing is converted yet.
struct CommandLine {
  std::map<std::string, std::vector<std::string>>
      flags;  ///< by name: all values, in order; flags: true, false
  std::vector<std::string> positionals;
  std::vector<std::string> unknown;  ///< "--hiden-size"
};

/// Splits arguments. Errors: a flag without its value.
CommandLine read_command_line(const std::vector<std::string>& arguments, const std::vector<FlagSpec>& flags);

}  // namespace megadlm::config
