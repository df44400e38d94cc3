#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace megadlm::tokenizers {

/// The first byte that is not part of valid UTF-8, or npos.
size_t first_invalid_utf8(std::string_view text);

/// An Error that names the byte unless `text` is valid UTF-8.
void require_utf8(std::string_view text);

/// The code point at byte `position`, which is moved behind it. `text` must be valid.
uint32_t next_code_point(std::string_view text, size_t& position);
/// The code point before byte `position`, which is moved onto it.
uint32_t previous_code_point(std::string_view text, size_t& position);

void append_utf8(std::string& text, uint32_t code_point);

// Properties by Unicode 16.0.
bool is_white_space(uint32_t code_point);
/// General category L.
bool is_letter(uint32_t code_point);
/// General category N.
bool is_number(uint32_t code_point);
/// Letters, marks, digits and connectors: what \w matches.
bool is_word_character(uint32_t code_point);

}  // namespace megadlm::tokenizers
