#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "tokenizers/added_tokens.h"
#include "tokenizers/bpe/merges.h"
#include "tokenizers/regex.h"
#include "tokenizers/tokenizer.h"

namespace megadlm::tokenizers {

/// Byte-pair encoding as Hugging Face's tokenizer.json describes it: model BPE; pre-tokenizers ByteLevel and
/// Split (by regular expression, isolated) and sequences of them; normalisers NFC, NFD, NFKC, NFKD. Whatever
/// else the file asks for is refused by name.
class BpeTokenizer : public Tokenizer {
 public:
  /// `place` names the file in errors.
  BpeTokenizer(nlohmann::json json, const std::string& place);

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(const std::vector<int32_t>& ids, bool skip_special = false) const override;
  int64_t vocab_size() const override { return static_cast<int64_t>(pieces_.size()); }
  std::optional<int32_t> id_of(std::string_view piece) const override;
  std::string to_json() const override { return json_.dump(2) + "\n"; }

 private:
  using Cache = std::unordered_map<std::string, std::vector<int32_t>>;

  void read_model(const nlohmann::json& model);
  void read_added_tokens(const nlohmann::json& tokens);
  void read_normalizer(const nlohmann::json& normalizer);
  void read_pre_tokenizer(const nlohmann::json& pre_tokenizer);
  void check_rest() const;
  std::string normalize(std::string_view text) const;
  /// Calls `consume` with each piece of the text.
  template <class Consume>
  void pre_tokenize(std::string_view text, size_t splitter, const Consume& consume) const;
  void encode_piece(std::string_view piece, Cache& cache, std::vector<int32_t>& ids) const;
  std::vector<int32_t> symbols_of(std::string_view piece) const;

  nlohmann::json json_;
  std::string place_;
  std::vector<std::string> pieces_;  ///< by id, in the file's spelling
  std::unordered_map<std::string, int32_t> ids_;
  std::unique_ptr<MergeTable> merges_;
  AddedTokens added_;
  std::vector<Regex> splitters_;
  std::vector<std::string> normalizers_;
  std::vector<int32_t> byte_ids_;  ///< ByteLevel: id of each byte, -1 without
  bool byte_level_ = false, add_prefix_space_ = false, ignore_merges_ = false;
  std::optional<int32_t> unknown_;
};

}  // namespace megadlm::tokenizers
