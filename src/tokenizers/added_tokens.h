#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/normalizer.h"

namespace megadlm::tokenizers {

/// A token that is cut out of the text before anything else happens to it.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  ///< only where no word character stands beside it
  bool lstrip = false;       ///< takes white space on its left with it
  bool rstrip = false;       ///< and on its right
  bool normalized = false;   ///< looked for after normalisation, in what the others left
  bool special = false;      ///< a control token: left out by decode(skip_special)
};

/// A piece of text: an added token, or text between them (id -1).
struct TextPart {
  std::string_view text;
  int32_t id = -1;
};

/// Finds added tokens, leftmost first and then longest.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// `normalizer` is applied to the contents of normalized tokens.
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer);

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  const AddedToken* find(std::string_view content) const;
  /// Cuts the tokens that are not normalized out of `text`.
  std::vector<TextPart> split(std::string_view text) const { return split(text, raw_); }
  /// Cuts the normalized tokens out of a part that split() left and the normaliser has changed.
  std::vector<TextPart> split_normalized(std::string_view text) const { return split(text, normalized_); }

 private:
  /// Strings to find, by first byte, longest first.
  struct Pattern {
    std::string text;
    size_t token;
  };
  using Patterns = std::array<std::vector<Pattern>, 256>;
  static void add(Patterns& patterns, std::string text, size_t token);
  static const Pattern* match(const Patterns& patterns, std::string_view text, size_t position);
  std::vector<TextPart> split(std::string_view text, const Patterns& patterns) const;

  std::vector<AddedToken> tokens_;
  Patterns raw_, normalized_;
};

}  // namespace megadlm::tokenizers
