#pragma once

#include <string>
#include <vector>

#include "config/option_description.h"

namespace megadlm::config {

/// An argument without a flag.
struct Positional {
  std::string name;
  std::string help;
  bool required = true;
};

/// What help is written from.
struct CommandDescription {
  std::string command;
  std::string summary;
  std::vector<Positional> positionals;
  std::vector<OptionDescription> options;
};

/// Help for a terminal: a block a group, an option a line, its text wrapped in a second column.
std::string help_text(const CommandDescription& command, size_t columns);

/// The same as a section of a Markdown page, a table a group.
std::string markdown_text(const CommandDescription& command);

}  // namespace megadlm::config
