#include "tokenizers/bpe/bpe_model.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "tokenizers/bpe/byte_alphabet.h"
#include "tokenizers/json_access.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

using nlohmann::json;

/// Whether an option is set to anything but off.
bool is_on(const json& model, const char* key) {
  const json& value = json_member(model, key);
  return !value.is_null() && value != "" && value != 0 && value != false;
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

BpeModel::BpeModel(const json& model, bool byte_level, const std::string& place)
    : place_(place), byte_level_(byte_level) {
  // Files of before 2020 leave the type out.
  base::require(json_type(model) == "BPE" || (!model.contains("type") && model.contains("merges")),
                "{}: model type {} is not supported; accepted: BPE", place,
                json_member(model, "type").dump());
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
    base::require(!is_on(model, key), "{}: model option '{}' is not supported", place, key);
  }
  read_vocabulary(json_member(model, "vocab"));
  read_merges(json_member(model, "merges"));
  read_unknown(model);
  find_whole_pieces(json_flag(model, "ignore_merges", false));
}

void BpeModel::read_vocabulary(const json& vocabulary) {
  base::require(vocabulary.is_object(), "{}: the model needs an object 'vocab'", place_);
  ids_.reserve(vocabulary.size());
  for (const auto& [piece, id] : vocabulary.items()) {
    base::require(id.is_number_unsigned() && id.get<uint64_t>() < kLargestVocabulary,
                  "{}: token '{}' has id {}", place_, piece, id.dump());
    ids_.emplace(piece, id.get<int32_t>());
    size_ = std::max(size_, id.get<int64_t>() + 1);
  }
  byte_ids_.fill(-1);
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto found = ids_.find(byte_alphabet()[byte]);
    if (found != ids_.end()) byte_ids_[byte] = found->second;
  }
}

int32_t BpeModel::id_of(const std::string& piece, const std::string& left, const std::string& right) const {
  const auto found = ids_.find(piece);
  base::require(found != ids_.end(), "{}: merge '{}' '{}' needs the token '{}', which the vocabulary lacks",
                place_, left, right, piece);
  return found->second;
}

void BpeModel::read_merges(const json& merges) {
  base::require(merges.is_array(), "{}: the model needs an array 'merges'", place_);
  std::vector<MergeTable::Rule> rules;
  rules.reserve(merges.size());
  for (const json& merge : merges) {
    // The first line of a merges.txt that was taken over as it is.
    if (merge.is_string() && merge.get_ref<const std::string&>().starts_with("#version")) continue;
    const auto [left, right] = halves(merge, place_);
    rules.push_back({id_of(left, left, right), id_of(right, left, right), id_of(left + right, left, right)});
  }
  merges_ = MergeTable(rules);
}

void BpeModel::read_unknown(const json& model) {
  if (!is_on(model, "unk_token")) return;
  const json& token = model["unk_token"];
  const auto found = token.is_string() ? ids_.find(token.get<std::string>()) : ids_.end();
  base::require(found != ids_.end(), "{}: unk_token {} is not in the vocabulary", place_, token.dump());
  unknown_ = found->second;
  fuse_unknown_ = json_flag(model, "fuse_unk", false);
}

void BpeModel::find_whole_pieces(bool ignore_merges) {
  whole_ = PieceTable(ids_.size());
  std::vector<int32_t> symbols;
  for (const auto& [piece, id] : ids_) {
    if (byte_level_ && !in_byte_alphabet(piece)) continue;
    const std::string bytes = byte_level_ ? alphabet_to_bytes(piece) : piece;
    if (bytes.empty()) continue;
    if (!ignore_merges) {
      std::string missing;
      symbols.clear();
      append_symbols(bytes, symbols, missing);
      merges_.apply(symbols);
      if (!missing.empty() || symbols.size() != 1 || symbols[0] != id) continue;
    }
    whole_.insert(bytes, id);
  }
}

void BpeModel::append_symbols(std::string_view piece, std::vector<int32_t>& symbols,
                              std::string& missing) const {
  bool last_unknown = false;
  for (size_t position = 0; position < piece.size();) {
    const size_t begin = position;
    int32_t id = -1;
    if (byte_level_) {
      id = byte_ids_[static_cast<unsigned char>(piece[position++])];
    } else {
      next_code_point(piece, position);
      const auto found = ids_.find(std::string(piece.substr(begin, position - begin)));
      if (found != ids_.end()) id = found->second;
    }
    if (id >= 0) {
      symbols.push_back(id);
    } else if (!unknown_) {
      missing += piece.substr(begin, position - begin);
    } else if (!fuse_unknown_ || !last_unknown) {
      symbols.push_back(*unknown_);
    }
    last_unknown = id < 0;
  }
}

void BpeModel::encode(std::string_view piece, std::vector<int32_t>& ids) const {
  if (const int32_t id = whole_.find(piece); id >= 0) {
    ids.push_back(id);
    return;
  }
  thread_local std::vector<int32_t> symbols;
  symbols.clear();
  std::string missing;
  append_symbols(piece, symbols, missing);
  if (!missing.empty()) {
    base::warn_once(
        fmt::format("{}: the vocabulary lacks a symbol and has no unk_token: such text is left out", place_));
  }
  merges_.apply(symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

}  // namespace megadlm::tokenizers
