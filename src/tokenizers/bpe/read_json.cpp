#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "tokenizers/bpe/bpe_tokenizer.h"
#include "tokenizers/bpe/byte_alphabet.h"
#include "tokenizers/normalizer.h"

namespace megadlm::tokenizers {
namespace {

using nlohmann::json;

constexpr int64_t kLargestVocabulary = 16'000'000;

std::string type_of(const json& part) {
  return part.is_object() && part.contains("type") && part["type"].is_string()
             ? part["type"].get<std::string>()
             : "";
}

const json& member(const json& object, const char* key) {
  static const json null;
  return object.contains(key) ? object[key] : null;
}

bool flag(const json& object, const char* key, bool otherwise) {
  const json& value = member(object, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

bool given(const json& object, const char* key) {
  const json& value = member(object, key);
  return !value.is_null() && !(value.is_string() && value.get_ref<const std::string&>().empty()) &&
         !(value.is_number() && value.get<double>() == 0) && !(value.is_boolean() && !value.get<bool>());
}

/// The two halves of a merge, written as an array or with one space between.
std::pair<std::string, std::string> halves(const json& merge, const std::string& place) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  }
  if (merge.is_string()) {
    const std::string& text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  }
  base::fail("{}: merge {} is neither 'a b' nor [\"a\", \"b\"]", place, merge.dump());
}

}  // namespace

BpeTokenizer::BpeTokenizer(json parsed, const std::string& place) : json_(std::move(parsed)), place_(place) {
  base::require(json_.is_object() && json_.contains("model"),
                "{}: is not a tokenizer.json: it has no 'model'", place);
  read_model(json_["model"]);
  read_added_tokens(member(json_, "added_tokens"));
  read_normalizer(member(json_, "normalizer"));
  read_pre_tokenizer(member(json_, "pre_tokenizer"));
  if (byte_level_) {
    for (const std::string& piece : byte_alphabet()) {
      const auto found = ids_.find(piece);
      byte_ids_.push_back(found == ids_.end() ? -1 : found->second);
    }
  }
  check_rest();
}

void BpeTokenizer::read_model(const json& model) {
  // Files of before 2020 leave the type out.
  base::require(type_of(model) == "BPE" || (!model.contains("type") && model.contains("merges")),
                "{}: model type '{}' is not supported; accepted: BPE", place_, type_of(model));
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
    base::require(!given(model, key), "{}: model option '{}' is not supported", place_, key);
  }
  ignore_merges_ = flag(model, "ignore_merges", false);
  base::require(member(model, "vocab").is_object() && member(model, "merges").is_array(),
                "{}: the model needs an object 'vocab' and an array 'merges'", place_);
  for (const auto& [piece, id] : model["vocab"].items()) {
    base::require(id.is_number_integer() && id.get<int64_t>() >= 0 && id.get<int64_t>() < kLargestVocabulary,
                  "{}: token '{}' has id {}", place_, piece, id.dump());
    const auto number = id.get<int32_t>();
    if (static_cast<size_t>(number) >= pieces_.size()) pieces_.resize(number + 1);
    pieces_[number] = piece;
    ids_.emplace(piece, number);
  }
  std::vector<MergeTable::Rule> rules;
  for (const json& merge : model["merges"]) {
    const auto [left, right] = halves(merge, place_);
    const auto id = [&](const std::string& piece) {
      const auto found = ids_.find(piece);
      base::require(found != ids_.end(),
                    "{}: merge '{}' '{}' needs the token '{}', which the vocabulary lacks", place_, left,
                    right, piece);
      return found->second;
    };
    rules.push_back({id(left), id(right), id(left + right)});
  }
  merges_ = std::make_unique<MergeTable>(rules);
  if (given(model, "unk_token")) {
    base::require(!flag(model, "fuse_unk", false), "{}: model option 'fuse_unk' is not supported", place_);
    const auto found = ids_.find(model["unk_token"].get<std::string>());
    base::require(found != ids_.end(), "{}: unk_token {} is not in the vocabulary", place_,
                  model["unk_token"].dump());
    unknown_ = found->second;
  }
}

void BpeTokenizer::read_added_tokens(const json& tokens) {
  if (tokens.is_null()) return;
  base::require(tokens.is_array(), "{}: 'added_tokens' is not an array", place_);
  std::vector<AddedToken> added;
  for (const json& entry : tokens) {
    base::require(entry.is_object() && member(entry, "id").is_number_integer() &&
                      member(entry, "content").is_string() && entry["id"].get<int64_t>() >= 0 &&
                      entry["id"].get<int64_t>() < kLargestVocabulary,
                  "{}: added token {} needs an 'id' and a 'content'", place_, entry.dump());
    AddedToken token;
    token.id = entry["id"].get<int32_t>();
    token.content = entry["content"].get<std::string>();
    token.single_word = flag(entry, "single_word", false);
    token.lstrip = flag(entry, "lstrip", false);
    token.rstrip = flag(entry, "rstrip", false);
    token.normalized = flag(entry, "normalized", !flag(entry, "special", false));
    token.special = flag(entry, "special", false);
    if (static_cast<size_t>(token.id) >= pieces_.size()) pieces_.resize(token.id + 1);
    pieces_[token.id] = token.content;
    added.push_back(std::move(token));
  }
  added_ = AddedTokens(std::move(added));
}

void BpeTokenizer::read_normalizer(const json& normalizer) {
  if (normalizer.is_null()) return;
  const std::string type = type_of(normalizer);
  if (type == "Sequence") {
    for (const json& part : member(normalizer, "normalizers")) read_normalizer(part);
    return;
  }
  base::require(is_normal_form(type),
                "{}: normalizer '{}' is not supported; accepted: NFC, NFD, NFKC, NFKD, Sequence", place_,
                type);
  normalizers_.push_back(type);
}

void BpeTokenizer::read_pre_tokenizer(const json& part) {
  if (part.is_null()) return;
  const std::string type = type_of(part);
  if (type == "Sequence") {
    for (const json& inner : member(part, "pretokenizers")) read_pre_tokenizer(inner);
  } else if (type == "ByteLevel") {
    byte_level_ = true;
    add_prefix_space_ = flag(part, "add_prefix_space", true);
    base::require(!add_prefix_space_ || splitters_.empty(),
                  "{}: ByteLevel with add_prefix_space after a Split is not supported", place_);
    if (flag(part, "use_regex", true)) splitters_.emplace_back(byte_level_pattern());
  } else if (type == "Split") {
    const json& pattern = member(part, "pattern");
    base::require(
        member(part, "behavior") == "Isolated" && !flag(part, "invert", false) && pattern.is_object() &&
            member(pattern, "Regex").is_string(),
        "{}: pre_tokenizer Split is supported with a Regex, behavior Isolated, not inverted; seen {}", place_,
        part.dump());
    splitters_.emplace_back(pattern["Regex"].get<std::string>());
  } else {
    base::fail("{}: pre_tokenizer '{}' is not supported; accepted: ByteLevel, Split, Sequence", place_, type);
  }
}

void BpeTokenizer::check_rest() const {
  const json& decoder = member(json_, "decoder");
  base::require(decoder.is_null() || type_of(decoder) == "ByteLevel",
                "{}: decoder '{}' is not supported; accepted: ByteLevel", place_, type_of(decoder));
  const std::string processor = type_of(member(json_, "post_processor"));
  if (!processor.empty() && processor != "ByteLevel") {
    base::warn_once(fmt::format("{}: post_processor '{}' is not applied: nothing is added to encoded text",
                                place_, processor));
  }
  for (const char* key : {"truncation", "padding"}) {
    if (!member(json_, key).is_null()) {
      base::warn_once(fmt::format("{}: '{}' is not applied: rows are cut and filled elsewhere", place_, key));
    }
  }
}

}  // namespace megadlm::tokenizers
