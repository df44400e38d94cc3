#include "tokenizers/regex_dialect.h"

#include "base/error.h"
#include "tokenizers/newer_characters.h"

namespace megadlm::tokenizers {
namespace {

class Translator {
 public:
  Translator(std::string_view pattern, bool newer) : pattern_(pattern), newer_(newer) {}

  std::string run() {
    while (position_ < pattern_.size()) {
      const char character = pattern_[position_];
      if (character == '\\') {
        escape();
      } else if (in_class_) {
        class_character(character);
      } else {
        plain_character(character);
      }
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    base::fail("regular expression '{}': '{}' is not supported", pattern_, what);
  }
  bool next_is(std::string_view text) const { return pattern_.substr(position_).starts_with(text); }
  void copy(size_t count) {
    result_ += pattern_.substr(position_, count);
    position_ += count;
  }
  void replace(size_t count, std::string_view text) {
    result_ += text;
    position_ += count;
  }

  void class_character(char character) {
    // Oniguruma nests and intersects classes; PCRE2 takes these characters literally.
    if (character == '[') refuse("[ inside [ ]");
    if (next_is("&&")) refuse("&&");
    if (character == ']') in_class_ = false;
    copy(1);
  }

  void plain_character(char character) {
    if (character == '[') {
      in_class_ = true;
      copy(next_is("[^") ? 2 : 1);
      if (next_is("]")) refuse("[]");
    } else if (character == '(') {
      group();
    } else if (character == '}') {
      // After an interval, Ruby's + repeats again and its ? makes {n} optional; PCRE2 has other meanings.
      if (next_is("}+")) refuse("}+");
      if (next_is("}?") && pattern_.find(',', pattern_.rfind('{', position_)) > position_) refuse("{n}?");
      copy(1);
    } else {
      copy(1);
    }
  }

  void group() {
    if (!next_is("(?")) return copy(1);
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?i)", "(?-i:", "(?-i)"}) {
      if (next_is(known)) return copy(known.size());
    }
    refuse(pattern_.substr(position_, 4));
  }

  void escape() {
    if (position_ + 1 == pattern_.size()) refuse("\\ at the end");
    const char character = pattern_[position_ + 1];
    switch (character) {
      // PCRE2's own \s also takes U+180E, which is no white space since Unicode 6.3.
      case 's':
        return replace(2, R"(\p{wspace})");
      case 'S':
        return replace(2, R"(\P{wspace})");
      case 'v':
        return replace(2, R"(\x0B)");
      case 'd':
        return replace(2, ""), category(false, "Nd");
      case 'D':
        return replace(2, ""), category(true, "Nd");
      case 'p':
      case 'P':
        return property(character == 'P');
      case 'u':
        return code_point();
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'a':
      case 'e':
      case 'x':
        return copy(2);
      case 'A':
      case 'z':
        if (in_class_) break;
        return copy(2);
      default:
        break;
    }
    const auto byte = static_cast<unsigned char>(character);
    const bool letter_or_digit = (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z');
    if (letter_or_digit) refuse(pattern_.substr(position_, 2));
    copy(byte < 0x80 ? 2 : 1);
    if (byte >= 0x80) copy(1);
  }

  /// \uHHHH
  void code_point() {
    const std::string_view digits = pattern_.substr(position_ + 2, 4);
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
      refuse("\\u");
    result_ += "\\x{" + std::string(digits) + "}";
    position_ += 6;
  }

  /// \p{Name}, \p{^Name}, \P{Name}
  void property(bool negated) {
    const size_t close = pattern_.find('}', position_);
    if (pattern_.substr(position_ + 2, 1) != "{" || close == std::string_view::npos) {
      refuse(pattern_.substr(position_, 3));
    }
    std::string_view name = pattern_.substr(position_ + 3, close - position_ - 3);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    position_ = close + 1;
    category(negated, name);
  }

  void category(bool negated, std::string_view name) {
    const std::string known = std::string(negated ? "\\P{" : "\\p{") + std::string(name) + "}";
    std::string added;
    for (const NewerCharacters& range : newer_characters()) {
      if (!std::string_view(range.category).starts_with(name)) continue;
      added += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", range.first, range.last);
    }
    // Inside a class the complement cannot be written as an addition; there are no such patterns in use.
    if (negated && in_class_ && !added.empty()) refuse("negated property inside [ ]");
    if (!newer_ || added.empty()) {
      result_ += known;
    } else if (in_class_) {
      result_ += known + added;
    } else {
      result_ += std::string(negated ? "[^\\p{" : "[\\p{") + std::string(name) + "}" + added + "]";
    }
  }

  std::string_view pattern_;
  bool newer_;
  size_t position_ = 0;
  bool in_class_ = false;
  std::string result_;
};

}  // namespace

std::string to_pcre(std::string_view pattern, bool newer) { return Translator(pattern, newer).run(); }

}  // namespace megadlm::tokenizers
