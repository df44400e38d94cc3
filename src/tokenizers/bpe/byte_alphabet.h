#pragma once

#include <array>
#include <string>
#include <string_view>

namespace megadlm::tokenizers {

/// GPT-2's printable stand-in of each byte, as UTF-8: printable Latin-1 characters stand for themselves, the
/// other bytes for U+0100 and on.
const std::array<std::string, 256>& byte_alphabet();

/// Whether every character of `text` is of the alphabet.
bool in_byte_alphabet(std::string_view text);

/// The inverse. Text with a character outside the alphabet (an added token's own) stays as it is.
std::string alphabet_to_bytes(std::string_view text);

}  // namespace megadlm::tokenizers
