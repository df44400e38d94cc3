#include "tokenizers/null/null_tokenizer.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace megadlm::tokenizers {

std::vector<int32_t> NullTokenizer::encode(std::string_view text) const {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<int32_t> ids;
  while (true) {
    const size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return ids;
    const std::string_view word = text.substr(begin, text.find_first_of(blanks, begin) - begin);
    int32_t id = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    base::require(error == std::errc() && end == word.data() + word.size() && id >= 0 && id < vocab_size(),
                  "NullTokenizer: '{}' is not an id of 0 to {}", word, vocab_size() - 1);
    ids.push_back(id);
    text.remove_prefix(begin + word.size());
  }
}

std::string NullTokenizer::decode(const std::vector<int32_t>& ids, bool skip_special) const {
  std::string text;
  for (const int32_t id : ids) {
    base::require(id >= 0 && id < vocab_size(), "token id {} is outside the vocabulary of {}", id,
                  vocab_size());
    if (skip_special && id >= vocab_size_) continue;
    if (!text.empty()) text += ' ';
    text += std::to_string(id);
  }
  return text;
}

std::optional<int32_t> NullTokenizer::id_of(std::string_view piece) const {
  return piece == "<eod>" ? std::optional<int32_t>(static_cast<int32_t>(vocab_size_)) : std::nullopt;
}

std::string NullTokenizer::to_json() const {
  return nlohmann::json{{"type", "NullTokenizer"}, {"vocab_size", vocab_size_}}.dump() + "\n";
}

}  // namespace megadlm::tokenizers
