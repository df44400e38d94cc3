#pragma once

#include <span>
#include <string_view>

#include "config/megatron_options.h"

namespace megadlm::config {

/// Options that are handled alike for the same reason: names separated by spaces, by how many values follow.
struct MegatronRow {
  MegatronOption::Handling handling;
  std::string_view reason;
  std::string_view flags;
  std::string_view with_value = {};
  std::string_view with_list = {};
  std::string_view accepted = {};
};

std::span<const MegatronRow> megatron_rows();

}  // namespace megadlm::config
