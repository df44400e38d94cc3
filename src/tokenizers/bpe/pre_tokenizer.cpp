#include "tokenizers/bpe/pre_tokenizer.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "tokenizers/json_access.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

using nlohmann::json;

/// The digits of Digits, whose tables are those of Unicode 17.0.
bool is_digit(uint32_t point) {
  return is_number(point) || (point >= 0x11DE0 && point <= 0x11DE9) || (point >= 0x16FF4 && point <= 0x16FF6);
}

}  // namespace

PreTokenizer::PreTokenizer(const json& pre_tokenizer, const std::string& place) {
  read(pre_tokenizer, place, 0);
}

void PreTokenizer::read(const json& part, const std::string& place, int depth) {
  if (part.is_null()) return;
  const std::string type = json_type(part);
  base::require(!byte_level_, "{}: pre_tokenizer '{}' after ByteLevel is not supported", place, type);
  if (type == "Sequence") {
    const json& parts = json_member(part, "pretokenizers");
    base::require(parts.is_array() && depth < kDeepestSequence,
                  "{}: pre_tokenizer Sequence needs an array 'pretokenizers' and at most {} levels", place,
                  kDeepestSequence);
    for (const json& inner : parts) read(inner, place, depth + 1);
  } else if (type == "ByteLevel") {
    read_byte_level(part);
  } else if (type == "Split") {
    read_split(part, place);
  } else if (type == "Digits") {
    Step step;
    step.behavior = json_flag(part, "individual_digits", false) ? Behavior::isolated : Behavior::contiguous;
    steps_.push_back(std::move(step));
  } else {
    base::fail("{}: pre_tokenizer '{}' is not supported; accepted: ByteLevel, Split, Digits, Sequence", place,
               type);
  }
}

void PreTokenizer::read_byte_level(const json& part) {
  byte_level_ = true;
  add_prefix_space_ = json_flag(part, "add_prefix_space", true);
  if (json_flag(part, "use_regex", true)) words_.emplace();
}

void PreTokenizer::read_split(const json& part, const std::string& place) {
  static constexpr std::array<std::pair<std::string_view, Behavior>, 5> names{
      {{"Isolated", Behavior::isolated},
       {"Removed", Behavior::removed},
       {"Contiguous", Behavior::contiguous},
       {"MergedWithPrevious", Behavior::merged_with_previous},
       {"MergedWithNext", Behavior::merged_with_next}}};
  Step step;
  step.invert = json_flag(part, "invert", false);
  const json& pattern = json_member(part, "pattern");
  const json &regex = json_member(pattern, "Regex"), &literal = json_member(pattern, "String");
  if (regex.is_string()) {
    try {
      step.regex.emplace(regex.get<std::string>());
    } catch (const base::Error& error) {
      base::fail("{}: pre_tokenizer Split: {}", place, error.what());
    }
  } else {
    base::require(literal.is_string() && !literal.get_ref<const std::string&>().empty(),
                  "{}: pre_tokenizer Split needs a 'pattern' with a 'Regex' or a 'String', seen {}", place,
                  part.dump());
    step.literal = literal.get<std::string>();
  }
  const json& behavior = json_member(part, "behavior");
  for (const auto& [name, value] : names) {
    if (behavior != name) continue;
    step.behavior = value;
    steps_.push_back(std::move(step));
    return;
  }
  base::fail(
      "{}: pre_tokenizer Split has behavior {}; accepted: Isolated, Removed, Contiguous, MergedWithPrevious, "
      "MergedWithNext",
      place, behavior.dump());
}

std::pair<size_t, size_t> PreTokenizer::Step::next_literal(std::string_view text, size_t position) const {
  if (!literal.empty()) {
    const size_t begin = text.find(literal, position);
    return {begin, begin == std::string_view::npos ? begin : begin + literal.size()};
  }
  while (position < text.size()) {
    const size_t begin = position;
    if (is_digit(next_code_point(text, position))) return {begin, position};
  }
  return {std::string_view::npos, std::string_view::npos};
}

std::vector<PreTokenizer::Match> PreTokenizer::Step::matches(std::string_view text) const {
  std::vector<Match> found;
  std::optional<Regex::Matches> by_regex;
  if (regex) by_regex.emplace(regex->matches(text));
  size_t done = 0;
  while (true) {
    const auto [begin, end] = by_regex ? by_regex->next() : next_literal(text, done);
    if (begin == std::string_view::npos) break;
    if (begin > done) found.push_back({done, begin, invert});
    found.push_back({begin, end, !invert});
    done = end;
  }
  if (done < text.size()) found.push_back({done, text.size(), invert});
  return found;
}

void PreTokenizer::Step::cut(std::string_view text, std::vector<std::string_view>& parts) const {
  std::vector<Match> joined;
  const std::vector<Match> found = matches(text);
  for (size_t i = 0; i < found.size(); ++i) {
    const Match& match = found[i];
    const bool before = i > 0 && found[i - 1].matched;
    const bool joins =
        !joined.empty() && ((behavior == Behavior::contiguous && match.matched == before) ||
                            (behavior == Behavior::merged_with_previous && match.matched && !before) ||
                            (behavior == Behavior::merged_with_next && !match.matched && before));
    if (behavior == Behavior::removed && match.matched) continue;
    if (joins) {
      joined.back().end = match.end;
    } else {
      joined.push_back(match);
    }
  }
  for (const Match& match : joined) {
    if (match.end > match.begin) parts.push_back(text.substr(match.begin, match.end - match.begin));
  }
}

}  // namespace megadlm::tokenizers
