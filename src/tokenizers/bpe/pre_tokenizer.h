#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/bpe/word_splitter.h"
#include "tokenizers/regex.h"

namespace megadlm::tokenizers {

/// How a tokenizer.json cuts text into pieces that are encoded one by one: Split (Regex or String, every
/// behavior, inverted or not), Digits, ByteLevel, and sequences of them that end with ByteLevel if they have
/// it.
class PreTokenizer {
 public:
  PreTokenizer() = default;
  /// Reads the "pre_tokenizer" of the file `place`; what is not supported is an Error that names it.
  PreTokenizer(const nlohmann::json& pre_tokenizer, const std::string& place);

  /// Whether pieces are sequences of bytes written in the byte alphabet.
  bool byte_level() const { return byte_level_; }

  /// Calls `consume(piece)` for each piece of `text` (valid UTF-8) in order. A piece is good for the call
  /// only.
  template <class Consume>
  void for_each_piece(std::string_view text, const Consume& consume) const {
    if (steps_.empty()) return consume_part(text, consume);
    std::vector<std::string_view> parts{text}, cut;
    for (const Step& step : steps_) {
      cut.clear();
      for (const std::string_view part : parts) step.cut(part, cut);
      parts.swap(cut);
    }
    for (const std::string_view part : parts) consume_part(part, consume);
  }

 private:
  enum class Behavior { isolated, removed, contiguous, merged_with_previous, merged_with_next };
  struct Match {
    size_t begin, end;
    bool matched;
  };
  /// One Split or Digits.
  struct Step {
    std::optional<Regex> regex;
    std::string literal;  ///< where there is neither this nor a pattern, digits match
    Behavior behavior = Behavior::isolated;
    bool invert = false;

    void cut(std::string_view text, std::vector<std::string_view>& parts) const;
    std::vector<Match> matches(std::string_view text) const;
    std::pair<size_t, size_t> next_literal(std::string_view text, size_t position) const;
  };

  void read(const nlohmann::json& part, const std::string& place, int depth);
  void read_split(const nlohmann::json& part, const std::string& place);
  void read_byte_level(const nlohmann::json& part);

  /// ByteLevel's part of the work.
  template <class Consume>
  void consume_part(std::string_view text, const Consume& consume) const {
    std::string prefixed;
    if (add_prefix_space_ && !text.empty() && text.front() != ' ') {
      prefixed.reserve(text.size() + 1);
      prefixed += ' ';
      prefixed += text;
      text = prefixed;
    }
    if (!words_) {
      if (!text.empty()) consume(text);
      return;
    }
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = words_->end_of_piece(text, begin);
      consume(text.substr(begin, end - begin));
      begin = end;
    }
  }

  std::vector<Step> steps_;
  bool byte_level_ = false, add_prefix_space_ = false;
  std::optional<WordSplitter> words_;  ///< ByteLevel's own pattern
};

}  // namespace megadlm::tokenizers
