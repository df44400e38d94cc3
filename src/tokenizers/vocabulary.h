#pragma once

#include <memory>

#include "config/options/tokenizer.h"
#include "tokenizers/tokenizer.h"

namespace megadlm::tokenizers {

/// The tokenizer that the options name: the NullTokenizer, a tokenizer.json, or a folder that holds one. A
/// tokenizer_config.json beside it names the special tokens. Errors name the file or option.
std::shared_ptr<const Tokenizer> load_tokenizer(const config::TokenizerOptions& options);

/// A tokenizer's ids as a model sees them.
struct Vocabulary {
  std::shared_ptr<const Tokenizer> tokenizer;
  int64_t vocab_size = 0;         ///< with the mask token
  int64_t padded_vocab_size = 0;  ///< rounded up to a multiple of --make-vocab-size-divisible-by
  std::optional<int32_t> mask_token, eod_token;
  bool mask_added = false;  ///< the mask token is a new last id that the tokenizer does not know
};

/// `size` rounded up to a multiple of `multiple`.
int64_t pad_vocab_size(int64_t size, int64_t multiple);

/// Chooses the mask token when one is needed: --mask-token, else the tokenizer's own, else a new last id. A
/// tokenizer's own mask and end tokens are those of its tokenizer_config.json, else the first of the usual
/// spellings that it has.
Vocabulary make_vocabulary(std::shared_ptr<const Tokenizer> tokenizer,
                           const config::TokenizerOptions& options, bool needs_mask);

}  // namespace megadlm::tokenizers
