#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace megadlm::tokenizers {

/// Text to ids and back. Ids are 32-bit; implementations are safe to call from many threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Ids of UTF-8 text. Special tokens written in the text become their ids; nothing is added.
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  /// Bytes of ids; special tokens are written out unless `skip_special`. An id outside the vocabulary is an
  /// Error.
  virtual std::string decode(const std::vector<int32_t>& ids, bool skip_special = false) const = 0;
  /// Number of ids, added tokens included, padding excluded.
  virtual int64_t vocab_size() const = 0;
  /// The id of a token by its text ("<|endoftext|>"); nothing when there is none.
  virtual std::optional<int32_t> id_of(std::string_view piece) const = 0;
  /// The id of the token with a role, such as "eos_token" or "mask_token", that the tokenizer's own
  /// configuration names; nothing when it names none.
  virtual std::optional<int32_t> special(std::string_view) const { return std::nullopt; }
  /// A file's text that load_tokenizer makes the same tokenizer from.
  virtual std::string to_json() const = 0;
};

}  // namespace megadlm::tokenizers
