#include "tokenizers/bpe/word_splitter.h"

#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

constexpr uint32_t kTabulated = 0x10000;

/// The length of the contraction at the apostrophe `begin`; 0 when there is none.
size_t contraction(std::string_view text, size_t begin) {
  const std::string_view rest = text.substr(begin + 1, 2);
  if (rest.empty()) return 0;
  if (rest[0] == 's' || rest[0] == 't' || rest[0] == 'm' || rest[0] == 'd') return 2;
  return rest == "re" || rest == "ve" || rest == "ll" ? 3 : 0;
}

}  // namespace

WordSplitter::WordSplitter() : kinds_(kTabulated) {
  for (uint32_t point = 0; point < kTabulated; ++point) kinds_[point] = classify(point);
}

WordSplitter::Kind WordSplitter::classify(uint32_t code_point) {
  if (is_letter(code_point)) return Kind::letter;
  if (is_number(code_point)) return Kind::number;
  return is_white_space(code_point) ? Kind::space : Kind::other;
}

WordSplitter::Kind WordSplitter::next_kind(std::string_view text, size_t& position) const {
  const auto byte = static_cast<unsigned char>(text[position]);
  if (byte < 0x80) {
    ++position;
    return kinds_[byte];
  }
  const uint32_t point = next_code_point(text, position);
  return point < kTabulated ? kinds_[point] : classify(point);
}

size_t WordSplitter::end_of_run(std::string_view text, size_t position, Kind kind) const {
  while (position < text.size()) {
    size_t next = position;
    if (next_kind(text, next) != kind) break;
    position = next;
  }
  return position;
}

size_t WordSplitter::end_of_spaces(std::string_view text, size_t begin, size_t position) const {
  size_t last = begin;  // where the last white space begins
  while (position < text.size()) {
    size_t next = position;
    if (next_kind(text, next) != Kind::space) {
      // The last of several is left to what follows: \s+(?!\S).
      return last > begin ? last : position;
    }
    last = position;
    position = next;
  }
  return position;
}

size_t WordSplitter::end_of_piece(std::string_view text, size_t begin) const {
  const char first = text[begin];
  if (first == '\'') {
    if (const size_t length = contraction(text, begin)) return begin + length;
  }
  size_t position = begin;
  Kind kind = next_kind(text, position);
  if (first == ' ' && position < text.size()) {
    size_t next = position;
    const Kind second = next_kind(text, next);
    if (second != Kind::space) return end_of_run(text, next, second);
  }
  return kind == Kind::space ? end_of_spaces(text, begin, position) : end_of_run(text, position, kind);
}

}  // namespace megadlm::tokenizers
