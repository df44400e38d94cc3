#pragma once

#include "tokenizers/tokenizer.h"

namespace megadlm::tokenizers {

/// Text that already is ids: decimal numbers separated by white space. As in Megatron-LM the vocabulary has
/// one id more than `vocab_size` says: the end of a document, `vocab_size` itself.
class NullTokenizer : public Tokenizer {
 public:
  explicit NullTokenizer(int64_t vocab_size) : vocab_size_(vocab_size) {}

  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(const std::vector<int32_t>& ids, bool skip_special = false) const override;
  int64_t vocab_size() const override { return vocab_size_ + 1; }
  /// "<eod>" only.
  std::optional<int32_t> id_of(std::string_view piece) const override;
  std::string to_json() const override;

 private:
  int64_t vocab_size_;
};

}  // namespace megadlm::tokenizers
