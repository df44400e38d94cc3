#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "config/options/data.h"
#include "tokenizers/vocabulary.h"

namespace megadlm::data {

/// What preprocessing did with one key.
struct PreprocessSummary {
  std::string prefix;
  int64_t documents = 0, tokens = 0, text_bytes = 0, empty_documents = 0;
};

struct PreprocessResult {
  std::vector<PreprocessSummary> keys;
  std::map<std::string, int64_t> skipped;  ///< lines by reason
};

/// Text to <output_prefix>_<key>_document.bin and .idx, tokenised by `workers` threads; the files do not
/// depend on their number. Beside each pair a .json keeps the counts. An input without a single token is an
/// Error.
PreprocessResult preprocess(const config::PreprocessOptions& options,
                            const tokenizers::Vocabulary& vocabulary);

/// UTF-8 bytes of the text behind a pair, when preprocessing recorded them.
std::optional<int64_t> text_bytes(const std::string& prefix);

}  // namespace megadlm::data
