#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace megadlm::tokenizers {

/// A token that is cut out of the text before anything else happens to it.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  ///< only where no word character stands beside it
  bool lstrip = false;       ///< takes white space on its left with it
  bool rstrip = false;       ///< and on its right
  bool normalized = false;
  bool special = false;  ///< a control token: left out by decode(skip_special)
};

/// A piece of text: an added token, or text between them (id -1).
struct TextPart {
  std::string_view text;
  int32_t id = -1;
};

/// Finds added tokens, leftmost first and then longest.
class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens = {});

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  const AddedToken* find(int32_t id) const;
  const AddedToken* find(std::string_view content) const;
  std::vector<TextPart> split(std::string_view text) const;

 private:
  const AddedToken* match(std::string_view text, size_t position) const;

  std::vector<AddedToken> tokens_;
  std::array<std::vector<size_t>, 256> by_first_byte_;  ///< longest first
};

}  // namespace megadlm::tokenizers
