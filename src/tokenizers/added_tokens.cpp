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
size_t strip_right(std::string_view text, size_t end) {
  while (end < text.size()) {
    size_t next = end;
    if (!is_white_space(next_code_point(text, next))) break;
    end = next;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].content.empty())
      by_first_byte_[static_cast<unsigned char>(tokens_[i].content[0])].push_back(i);
  }
  for (auto& bucket : by_first_byte_) {
    std::stable_sort(bucket.begin(), bucket.end(), [&](size_t a, size_t b) {
      return tokens_[a].content.size() > tokens_[b].content.size();
    });
  }
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto found =
      std::find_if(tokens_.begin(), tokens_.end(), [&](const AddedToken& t) { return t.id == id; });
  return found == tokens_.end() ? nullptr : &*found;
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found =
      std::find_if(tokens_.begin(), tokens_.end(), [&](const AddedToken& t) { return t.content == content; });
  return found == tokens_.end() ? nullptr : &*found;
}

const AddedToken* AddedTokens::match(std::string_view text, size_t position) const {
  for (const size_t i : by_first_byte_[static_cast<unsigned char>(text[position])]) {
    const AddedToken& token = tokens_[i];
    if (text.compare(position, token.content.size(), token.content) == 0) return &token;
  }
  return nullptr;
}

std::vector<TextPart> AddedTokens::split(std::string_view text) const {
  std::vector<TextPart> parts;
  size_t done = 0;
  for (size_t position = 0; position < text.size();) {
    const AddedToken* token = match(text, position);
    if (token == nullptr) {
      ++position;
      continue;
    }
    size_t begin = position, end = position + token->content.size();
    position = end;
    if (token->single_word && (word_before(text, begin) || word_after(text, end))) continue;
    if (token->lstrip) begin = strip_left(text, begin, done);
    if (token->rstrip) end = strip_right(text, end);
    if (begin > done) parts.push_back({text.substr(done, begin - done)});
    parts.push_back({text.substr(begin, end - begin), token->id});
    done = position = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done)});
  return parts;
}

}  // namespace megadlm::tokenizers
