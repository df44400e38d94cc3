#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizers/tokenizer.h"

namespace megadlm::generation {

/// Ids of a text with gaps: `[MASK]` is one mask token, `[MASK:12]` twelve. An Error when there is no gap, or
/// one whose number is not 1 to 100,000.
std::vector<int64_t> encode_with_gaps(const tokenizers::Tokenizer& tokenizer, const std::string& text,
                                      int64_t mask_token);

}  // namespace megadlm::generation
