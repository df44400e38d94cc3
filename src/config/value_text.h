#pragma once

#include <string>
#include <vector>

#include "config/option_description.h"

namespace megadlm::config {

/// Reads values as written in a flag or a YAML scalar. `place` ("--lr", "run.yaml:3: lr") starts the error,
/// which names the value and what is accepted.
std::vector<Value> parse_values(const OptionDescription& option, const std::vector<std::string>& texts,
                                const std::string& place);

/// Whether the option has no default: what it holds before it is set is outside its own bounds. YAML writes
/// such a value as null.
bool has_no_default(const OptionDescription& option);
bool in_bounds(const OptionDescription& option, const Value& value);

/// Checks values that are already typed, for JSON.
void check_bounds(const OptionDescription& option, const Value& value, const std::string& place);

/// The shortest text that reads back as the same value.
std::string to_text(const Value& value);

/// "a whole number of at least 1", "true or false", "one of a, b": what the option accepts.
std::string accepted(const OptionDescription& option);

}  // namespace megadlm::config
