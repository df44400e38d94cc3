#pragma once

#include <string>
#include <vector>

#include "config/option.h"

namespace megadlm::config {

/// `megadlm tokenizer train`.
struct TokenizerTrainingOptions {
  static constexpr std::string_view group = "Tokenizer training";
  std::vector<std::string> input;
  std::vector<std::string> json_keys{"text"};
  bool plain_text = false;
  int64_t vocab_size = 4096;
  std::string output;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.input, "input", "JSON-lines files, or plain text with --plain-text.");
    option(self.json_keys, "json-keys", "Keys to take from each JSON object.");
    option(self.plain_text, "plain-text", "The input is plain text, a document a line.");
    option(self.vocab_size, "vocab-size",
           "Tokens to learn, the special ones <|endoftext|> and <|mask|> included.", between(258, 4000000));
    option(self.output, "output", "Folder to write tokenizer.json into.");
  }
};

}  // namespace megadlm::config
