#pragma once

#include <string>
#include <string_view>

namespace megadlm::tokenizers {

/// Writes a pattern of Oniguruma's Ruby dialect, which tokenizer.json uses, for PCRE2 (with UTF, UCP and
/// MULTILINE on). What the two read differently (\w, \b, \h, (?m), classes in classes, ...) is an Error that
/// names it. With `newer`, \p{...} also takes the characters that PCRE2 is too old to know; such patterns
/// are slower.
std::string to_pcre(std::string_view pattern, bool newer);

}  // namespace megadlm::tokenizers
