#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tokenizers/added_tokens.h"
#include "tokenizers/bpe/bpe_model.h"
#include "tokenizers/bpe/pre_tokenizer.h"
#include "tokenizers/normalizer.h"
#include "tokenizers/tokenizer.h"

namespace megadlm::tokenizers {

/// Byte-pair encoding as Hugging Face's tokenizer.json describes it, with the same ids as the reference
/// library without its post-processor (add_special_tokens=False). Normalisers, pre-tokenizers and model
/// options that are not supported are refused by name; decoding writes an added token's text as it stands in
/// the file.
class BpeTokenizer : public Tokenizer {
 public:
  /// Roles ("eos_token") and the text of the tokens that have them.
  using Roles = std::map<std::string, std::string, std::less<>>;

  /// `text` is a tokenizer.json; `place` names the file in errors.
  BpeTokenizer(std::string text, const std::string& place, Roles roles = {});

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(const std::vector<int32_t>& ids, bool skip_special = false) const override;
  int64_t vocab_size() const override { return static_cast<int64_t>(bytes_.size()); }
  std::optional<int32_t> id_of(std::string_view piece) const override;
  std::optional<int32_t> special(std::string_view role) const override;
  std::string to_json() const override { return text_; }

 private:
  void read_added_tokens(const nlohmann::json& tokens, const std::string& place);
  void fill_bytes(bool byte_level);

  std::string text_;
  Roles roles_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  BpeModel model_;
  AddedTokens added_;
  std::vector<std::string> bytes_;  ///< what each id decodes to
  std::vector<bool> special_;       ///< by id: control tokens
};

}  // namespace megadlm::tokenizers
