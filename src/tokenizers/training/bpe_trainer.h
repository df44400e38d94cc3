#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace megadlm::tokenizers {

/// What a trained tokenizer is to have.
struct BpeTrainingOptions {
  int64_t vocab_size = 0;                                                ///< special tokens included
  std::vector<std::string> special_tokens{"<|endoftext|>", "<|mask|>"};  ///< the first ids
};

/// Counts the pieces of documents that GPT-2's pattern cuts, then merges the most frequent pair again and
/// again (ties: the smaller ids), as Hugging Face's BpeTrainer does with the byte alphabet.
class BpeTrainer {
 public:
  explicit BpeTrainer(const BpeTrainingOptions& options);
  ~BpeTrainer();
  BpeTrainer(const BpeTrainer&) = delete;
  BpeTrainer& operator=(const BpeTrainer&) = delete;

  /// Counts a document; it must be valid UTF-8.
  void add(std::string_view document);
  /// The tokenizer.json; an Error when the text has nothing to learn from.
  std::string train() const;

 private:
  struct State;
  BpeTrainingOptions options_;
  std::unique_ptr<State> state_;
};

}  // namespace megadlm::tokenizers
