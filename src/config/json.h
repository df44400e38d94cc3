#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/option_description.h"

namespace megadlm::config {

/// The described values as an object; an absent optional is null.
nlohmann::json values_to_json(const std::vector<OptionDescription>& options);

/// Sets the described values from an object that has exactly their keys. `place` and the key name what is
/// missing, unknown or of another kind. Absent optionals and lists are not read back.
void values_from_json(const std::vector<OptionDescription>& options, const nlohmann::json& json,
                      const std::string& place);

/// The descriptions of a group's options, which refer to its members.
template <class Group>
std::vector<OptionDescription> describe_group(Group& group) {
  std::vector<OptionDescription> options;
  Group::visit(group, [&](auto& member, std::string_view name, std::string_view help, Bounds bounds = {}) {
    options.push_back(describe(member, name, help, Group::group, bounds));
  });
  return options;
}

}  // namespace megadlm::config
