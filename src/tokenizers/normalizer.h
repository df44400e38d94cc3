#pragma once

#include <string>

namespace megadlm::tokenizers {

/// Unicode normalisation (UAX 15) of valid UTF-8; `form` is NFC, NFD, NFKC or NFKD.
std::string normalize(const std::string& text, const std::string& form);

/// Whether `form` is one of them.
bool is_normal_form(const std::string& form);

}  // namespace megadlm::tokenizers
