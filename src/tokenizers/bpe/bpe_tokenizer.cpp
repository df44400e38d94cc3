#include "tokenizers/bpe/bpe_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "tokenizers/bpe/byte_alphabet.h"
#include "tokenizers/json_access.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

using nlohmann::json;

json parse(const std::string& text, const std::string& place) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    base::fail("{}: not valid JSON: {}", place, error.what());
  }
}

AddedToken read_added_token(const json& entry, const std::string& place) {
  const json& id = json_member(entry, "id");
  base::require(id.is_number_unsigned() && id.get<uint64_t>() < kLargestVocabulary &&
                    json_member(entry, "content").is_string(),
                "{}: added token {} needs an 'id' below {} and a 'content'", place, entry.dump(),
                kLargestVocabulary);
  AddedToken token;
  token.id = id.get<int32_t>();
  token.content = entry["content"].get<std::string>();
  token.single_word = json_flag(entry, "single_word", false);
  token.lstrip = json_flag(entry, "lstrip", false);
  token.rstrip = json_flag(entry, "rstrip", false);
  token.special = json_flag(entry, "special", false);
  token.normalized = json_flag(entry, "normalized", !token.special);
  return token;
}

/// Whether pieces are decoded from the byte alphabet. Names what encoding leaves to others.
bool decodes_bytes(const json& file, bool byte_level, const std::string& place) {
  const std::string processor = json_type(json_member(file, "post_processor"));
  if (!processor.empty() && processor != "ByteLevel") {
    base::warn_once(fmt::format("{}: post_processor '{}' is not applied: nothing is added to encoded text",
                                place, processor));
  }
  for (const char* key : {"truncation", "padding"}) {
    if (json_member(file, key).is_null()) continue;
    base::warn_once(fmt::format("{}: '{}' is not applied: rows are cut and filled elsewhere", place, key));
  }
  const json& decoder = json_member(file, "decoder");
  base::require(decoder.is_null() || json_type(decoder) == "ByteLevel",
                "{}: decoder '{}' is not supported; accepted: ByteLevel", place, json_type(decoder));
  return byte_level || !decoder.is_null();
}

}  // namespace

BpeTokenizer::BpeTokenizer(std::string text, const std::string& place, Roles roles)
    : text_(std::move(text)), roles_(std::move(roles)) {
  const json file = parse(text_, place);
  base::require(json_member(file, "model").is_object(), "{}: is not a tokenizer.json: it has no 'model'",
                place);
  normalizer_ = Normalizer(json_member(file, "normalizer"), place);
  pre_tokenizer_ = PreTokenizer(json_member(file, "pre_tokenizer"), place);
  model_ = BpeModel(file["model"], pre_tokenizer_.byte_level(), place);
  read_added_tokens(json_member(file, "added_tokens"), place);
  fill_bytes(decodes_bytes(file, pre_tokenizer_.byte_level(), place));
}

void BpeTokenizer::read_added_tokens(const json& entries, const std::string& place) {
  base::require(entries.is_null() || entries.is_array(), "{}: 'added_tokens' is not an array", place);
  std::vector<AddedToken> tokens;
  // As the reference does: the model's own id where it has the text, else the next free one.
  auto next = static_cast<int32_t>(model_.ids().size());
  std::unordered_set<std::string> seen{""};
  for (const json& entry : entries) {
    AddedToken token = read_added_token(entry, place);
    if (!seen.insert(token.content).second) continue;
    const auto own = model_.ids().find(token.content);
    const int32_t id = own != model_.ids().end() ? own->second : next;
    if (id != token.id) {
      base::warn_once(
          fmt::format("{}: added token '{}' says id {} and gets {}", place, token.content, token.id, id));
    }
    token.id = id;
    next = std::max(next, id + 1);
    tokens.push_back(std::move(token));
  }
  added_ = AddedTokens(std::move(tokens), normalizer_);
}

void BpeTokenizer::fill_bytes(bool byte_level) {
  int64_t size = model_.size();
  for (const AddedToken& token : added_.tokens()) size = std::max(size, int64_t{token.id} + 1);
  bytes_.resize(size);
  special_.resize(size);
  for (const auto& [piece, id] : model_.ids()) bytes_[id] = byte_level ? alphabet_to_bytes(piece) : piece;
  for (const AddedToken& token : added_.tokens()) {
    bytes_[token.id] = token.content;
    special_[token.id] = token.special;
  }
}

std::vector<int32_t> BpeTokenizer::encode(std::string_view text) const {
  require_utf8(text);
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 4 + 4);
  for (const TextPart& part : added_.split(text)) {
    if (part.id >= 0) {
      ids.push_back(part.id);
      continue;
    }
    const std::string normalized = normalizer_.empty() ? std::string() : normalizer_.apply(part.text);
    for (const TextPart& inner : added_.split_normalized(normalizer_.empty() ? part.text : normalized)) {
      if (inner.id >= 0) {
        ids.push_back(inner.id);
      } else {
        pre_tokenizer_.for_each_piece(inner.text, [&](std::string_view piece) { model_.encode(piece, ids); });
      }
    }
  }
  return ids;
}

std::string BpeTokenizer::decode(const std::vector<int32_t>& ids, bool skip_special) const {
  std::string text;
  for (const int32_t id : ids) {
    base::require(id >= 0 && id < vocab_size(), "token id {} is outside the vocabulary of {}", id,
                  vocab_size());
    if (!skip_special || !special_[id]) text += bytes_[id];
  }
  return text;
}

std::optional<int32_t> BpeTokenizer::id_of(std::string_view piece) const {
  if (const AddedToken* token = added_.find(piece)) return token->id;
  const auto found = model_.ids().find(std::string(piece));
  return found == model_.ids().end() ? std::nullopt : std::optional<int32_t>(found->second);
}

std::optional<int32_t> BpeTokenizer::special(std::string_view role) const {
  const auto found = roles_.find(role);
  return found == roles_.end() ? std::nullopt : id_of(found->second);
}

}  // namespace megadlm::tokenizers
