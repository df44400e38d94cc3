#include "tokenizers/added_tokens.h"

#include <algorithm>

#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

bool word_before(std::string_view text, size_t position) {
  return position > 0 && is_word_character(previous_code_point(text, position));
}
bool word_after(std::string_view text, size_t position) {
  return position < text.size() && is_word_character(next_code_point(text, position));
}

/// Moves `begin` left over white space, not before `limit`.
size_t strip_left(std::string_view text, size_t begin, size_t limit) {
  while (begin > limit) {
    size_t previous = begin;
    if (!is_white_space(previous_code_point(text, previous))) break;
    begin = previous;
  }
  return begin;
}
/// Moves `end` right over white space.
size_t strip_right(std::string_view text, size_t end) {
  while (end < text.size()) {
    size_t next = end;
    if (!is_white_space(next_code_point(text, next))) break;
    end = next;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer& normalizer)
    : tokens_(std::move(tokens)) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    if (token.normalized) {
      add(normalized_, normalizer.apply(token.content), i);
    } else {
      add(raw_, token.content, i);
    }
  }
}

void AddedTokens::add(Patterns& patterns, std::string text, size_t token) {
  if (text.empty()) return;
  auto& bucket = patterns[static_cast<unsigned char>(text[0])];
  const auto place =
      std::upper_bound(bucket.begin(), bucket.end(), text.size(),
                       [](size_t size, const Pattern& other) { return size > other.text.size(); });
  bucket.insert(place, {std::move(text), token});
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found =
      std::find_if(tokens_.begin(), tokens_.end(), [&](const AddedToken& t) { return t.content == content; });
  return found == tokens_.end() ? nullptr : &*found;
}

const AddedTokens::Pattern* AddedTokens::match(const Patterns& patterns, std::string_view text,
                                               size_t position) {
  for (const Pattern& pattern : patterns[static_cast<unsigned char>(text[position])]) {
    if (text.compare(position, pattern.text.size(), pattern.text) == 0) return &pattern;
  }
  return nullptr;
}

std::vector<TextPart> AddedTokens::split(std::string_view text, const Patterns& patterns) const {
  std::vector<TextPart> parts;
  size_t done = 0;
  for (size_t position = 0; position < text.size();) {
    const Pattern* pattern = match(patterns, text, position);
    if (pattern == nullptr) {
      ++position;
      continue;
    }
    const AddedToken& token = tokens_[pattern->token];
    size_t begin = position, end = position + pattern->text.size();
    // The search goes on behind the token itself, as the reference's does: another token may begin inside
    // the white space that this one takes.
    position = end;
    if (token.single_word && (word_before(text, begin) || word_after(text, end))) continue;
    if (token.lstrip) begin = std::max(strip_left(text, begin, done), done);
    if (token.rstrip) end = strip_right(text, end);
    end = std::max(begin, end);
    if (begin > done) parts.push_back({text.substr(done, begin - done)});
    parts.push_back({text.substr(begin, end - begin), token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done)});
  return parts;
}

}  // namespace megadlm::tokenizers
