#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace megadlm::tokenizers {

/// Characters of one general category that Unicode 15.0, 15.1 or 16.0 assigned. The reference library's
/// tables are those of Unicode 16.0 (measured over all characters with `tokenizers` 0.23.3), Debian 12's
/// PCRE2 knows 14.0 and its ICU 15.0: without this they would not take such a letter for a letter.
struct NewerCharacters {
  uint32_t first, last;
  char category[3];
};

/// Ordered, without overlaps.
std::span<const NewerCharacters> newer_characters();

/// The general category ("Lo") of a character in the table; null when it is not there.
const char* newer_category(uint32_t code_point);

/// Whether valid UTF-8 has a character of the table.
bool has_newer_characters(std::string_view text);

}  // namespace megadlm::tokenizers
