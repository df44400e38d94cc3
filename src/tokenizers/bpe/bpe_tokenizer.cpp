#include "tokenizers/bpe/bpe_tokenizer.h"

#include "base/error.h"
#include "tokenizers/bpe/byte_alphabet.h"
#include "tokenizers/normalizer.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

constexpr size_t kCachedPieceBytes = 64;  // longer pieces seldom come again
constexpr size_t kCacheEntries = 1 << 16;

}  // namespace

std::string BpeTokenizer::normalize(std::string_view text) const {
  std::string result(text);
  for (const std::string& form : normalizers_) result = tokenizers::normalize(result, form);
  return result;
}

template <class Consume>
void BpeTokenizer::pre_tokenize(std::string_view text, size_t splitter, const Consume& consume) const {
  if (splitter == splitters_.size()) {
    consume(text);
    return;
  }
  size_t done = 0;
  for (size_t position = 0; position < text.size();) {
    const auto [begin, end] = splitters_[splitter].find(text, position);
    if (begin == std::string_view::npos) break;
    if (end == begin) {
      next_code_point(text, position);
      continue;
    }
    if (begin > done) pre_tokenize(text.substr(done, begin - done), splitter + 1, consume);
    pre_tokenize(text.substr(begin, end - begin), splitter + 1, consume);
    done = position = end;
  }
  if (done < text.size()) pre_tokenize(text.substr(done), splitter + 1, consume);
}

std::vector<int32_t> BpeTokenizer::symbols_of(std::string_view piece) const {
  std::vector<int32_t> symbols;
  if (byte_level_) {
    symbols.reserve(piece.size());
    for (const unsigned char byte : piece) {
      const int32_t id = byte_ids_[byte] >= 0 ? byte_ids_[byte] : unknown_.value_or(-1);
      if (id >= 0) symbols.push_back(id);
    }
    return symbols;
  }
  for (size_t position = 0; position < piece.size();) {
    const size_t begin = position;
    next_code_point(piece, position);
    const auto found = ids_.find(std::string(piece.substr(begin, position - begin)));
    const int32_t id = found != ids_.end() ? found->second : unknown_.value_or(-1);
    if (id >= 0) symbols.push_back(id);
  }
  return symbols;
}

void BpeTokenizer::encode_piece(std::string_view piece, Cache& cache, std::vector<int32_t>& ids) const {
  const bool cached = piece.size() <= kCachedPieceBytes;
  const std::string text(cached ? piece : std::string_view());
  if (cached) {
    const auto found = cache.find(text);
    if (found != cache.end()) {
      ids.insert(ids.end(), found->second.begin(), found->second.end());
      return;
    }
  }
  std::vector<int32_t> symbols;
  if (ignore_merges_) {
    const auto whole = ids_.find(byte_level_ ? bytes_to_alphabet(piece) : std::string(piece));
    if (whole != ids_.end()) symbols = {whole->second};
  }
  if (symbols.empty()) {
    symbols = symbols_of(piece);
    merges_->apply(symbols);
  }
  ids.insert(ids.end(), symbols.begin(), symbols.end());
  if (cached && cache.size() < kCacheEntries) cache.emplace(text, std::move(symbols));
}

std::vector<int32_t> BpeTokenizer::encode(std::string_view text) const {
  require_utf8(text);
  std::vector<int32_t> ids;
  Cache cache;
  for (const TextPart& part : added_.split(text)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
      continue;
    }
    std::string normalized = normalizers_.empty() ? std::string() : normalize(part.text);
    std::string_view source = normalizers_.empty() ? part.text : std::string_view(normalized);
    std::string prefixed;
    if (add_prefix_space_ && !source.empty() && source.front() != ' ') {
      prefixed = " " + std::string(source);
      source = prefixed;
    }
    pre_tokenize(source, 0, [&](std::string_view piece) { encode_piece(piece, cache, ids); });
  }
  return ids;
}

std::string BpeTokenizer::decode(const std::vector<int32_t>& ids, bool skip_special) const {
  std::string text;
  for (const int32_t id : ids) {
    base::require(id >= 0 && id < vocab_size(), "token id {} is outside the vocabulary of {}", id,
                  vocab_size());
    if (const AddedToken* token = added_.find(id)) {
      if (!skip_special || !token->special) text += token->content;
    } else {
      text += byte_level_ ? alphabet_to_bytes(pieces_[id]) : pieces_[id];
    }
  }
  return text;
}

std::optional<int32_t> BpeTokenizer::id_of(std::string_view piece) const {
  if (const AddedToken* token = added_.find(piece)) return token->id;
  const auto found = ids_.find(std::string(piece));
  return found == ids_.end() ? std::nullopt : std::optional<int32_t>(found->second);
}

}  // namespace megadlm::tokenizers
