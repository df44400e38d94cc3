#pragma once

#include <array>
#include <string>
#include <string_view>

namespace megadlm::tokenizers {

/// GPT-2's printable stand-in of each byte, as UTF-8: printable Latin-1 characters stand for themselves, the
/// other bytes for U+0100 and on.
const std::array<std::string, 256>& byte_alphabet();

/// GPT-2's pattern of pieces: contractions, words, numbers, other characters, white space.
const char* byte_level_pattern();

/// Writes bytes with the alphabet.
std::string bytes_to_alphabet(std::string_view bytes);

/// The inverse. Characters outside the alphabet (an added token's own text) stay as they are.
std::string alphabet_to_bytes(std::string_view text);

}  // namespace megadlm::tokenizers
