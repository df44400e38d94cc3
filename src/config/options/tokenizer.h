#pragma once

#include <string>

#include "config/option.h"

namespace megadlm::config {

enum class TokenizerType { hugging_face, null };
template <>
struct EnumNames<TokenizerType> {
  static constexpr std::array value{
      std::pair{TokenizerType::hugging_face, std::string_view("HuggingFaceTokenizer")},
      std::pair{TokenizerType::null, std::string_view("NullTokenizer")}};
};

struct TokenizerOptions {
  static constexpr std::string_view group = "Tokenizer";
  TokenizerType tokenizer_type = TokenizerType::hugging_face;
  std::string tokenizer_model;
  int64_t vocab_size = 0;
  std::string mask_token;
  int64_t make_vocab_size_divisible_by = 128;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.tokenizer_type, "tokenizer-type", "Kind of tokenizer.");
    option(self.tokenizer_model, "tokenizer-model", "A tokenizer.json, or a folder that holds one.");
    option(self.vocab_size, "vocab-size",
           "Number of ids of the NullTokenizer, before the mask token and padding; a check for other kinds.",
           between(0, (1ll << 31) - 1));
    option(self.mask_token, "mask-token",
           "Text of the mask token. Empty: the tokenizer's own mask token, else one is added as the new last "
           "id.");
    option(self.make_vocab_size_divisible_by, "make-vocab-size-divisible-by",
           "The vocabulary is padded to a multiple of this.", between(1, 1 << 20));
  }
};

}  // namespace megadlm::config
