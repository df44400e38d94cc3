#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace megadlm::config {

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other (optimal
/// string alignment).
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the least edit distance to `text`, if it is near enough to be a likely misspelling.
std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace megadlm::config
