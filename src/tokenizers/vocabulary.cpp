#include "tokenizers/vocabulary.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "tokenizers/bpe/bpe_tokenizer.h"
#include "tokenizers/null/null_tokenizer.h"

namespace megadlm::tokenizers {
namespace {

namespace fs = std::filesystem;

// The usual spellings, the first that a tokenizer has.
constexpr std::array<std::string_view, 5> kMaskTokens{"<|mask|>", "<|mdm_mask|>", "[MASK]", "<mask>",
                                                      "<|MASK|>"};
constexpr std::array<std::string_view, 6> kEodTokens{"<|endoftext|>", "<|end_of_text|>", "</s>",
                                                     "<eos>",         "[SEP]",           "<eod>"};

template <size_t n>
std::optional<int32_t> first_of(const Tokenizer& tokenizer, const std::array<std::string_view, n>& pieces) {
  for (const std::string_view piece : pieces) {
    if (const auto id = tokenizer.id_of(piece)) return id;
  }
  return std::nullopt;
}

nlohmann::json read_json(const fs::path& path) {
  try {
    return nlohmann::json::parse(base::read_file(path));
  } catch (const nlohmann::json::exception& error) {
    base::fail("{}: not valid JSON: {}", path.string(), error.what());
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const config::TokenizerOptions& options) {
  if (options.tokenizer_type == config::TokenizerType::null) {
    if (options.vocab_size <= 0) base::fail_usage("--vocab-size: the NullTokenizer needs it, at least 1");
    return std::make_shared<NullTokenizer>(options.vocab_size);
  }
  if (options.tokenizer_model.empty()) {
    base::fail_usage("--tokenizer-model is missing: a tokenizer.json or a folder that holds one");
  }
  fs::path path(options.tokenizer_model);
  if (fs::is_directory(path)) path /= "tokenizer.json";
  nlohmann::json json = read_json(path);
  if (json.is_object() && json.value("type", "") == "NullTokenizer" && json.contains("vocab_size")) {
    return std::make_shared<NullTokenizer>(json["vocab_size"].get<int64_t>());
  }
  auto tokenizer = std::make_shared<BpeTokenizer>(std::move(json), path.string());
  base::require(options.vocab_size == 0 || options.vocab_size == tokenizer->vocab_size(),
                "--vocab-size {}: but {} has {} ids", options.vocab_size, path.string(),
                tokenizer->vocab_size());
  return tokenizer;
}

Vocabulary make_vocabulary(std::shared_ptr<const Tokenizer> tokenizer,
                           const config::TokenizerOptions& options, bool needs_mask) {
  Vocabulary vocabulary;
  vocabulary.vocab_size = tokenizer->vocab_size();
  vocabulary.eod_token = first_of(*tokenizer, kEodTokens);
  if (!options.mask_token.empty()) {
    vocabulary.mask_token = tokenizer->id_of(options.mask_token);
    base::require(vocabulary.mask_token.has_value(), "--mask-token '{}': the tokenizer has no such token",
                  options.mask_token);
  } else {
    vocabulary.mask_token = first_of(*tokenizer, kMaskTokens);
  }
  if (needs_mask && !vocabulary.mask_token) {
    vocabulary.mask_token = static_cast<int32_t>(vocabulary.vocab_size++);
    vocabulary.mask_added = true;
  }
  const int64_t multiple = options.make_vocab_size_divisible_by;
  vocabulary.padded_vocab_size = (vocabulary.vocab_size + multiple - 1) / multiple * multiple;
  vocabulary.tokenizer = std::move(tokenizer);
  return vocabulary;
}

}  // namespace megadlm::tokenizers
