#include "tokenizers/vocabulary.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "tokenizers/bpe/bpe_tokenizer.h"
#include "tokenizers/json_access.h"
#include "tokenizers/null/null_tokenizer.h"

namespace megadlm::tokenizers {
namespace {

namespace fs = std::filesystem;

// The usual spellings, the first that a tokenizer has.
constexpr std::array<std::string_view, 5> kMaskTokens{"<|mask|>", "<|mdm_mask|>", "[MASK]", "<mask>",
                                                      "<|MASK|>"};
constexpr std::array<std::string_view, 6> kEodTokens{"<|endoftext|>", "<|end_of_text|>", "</s>",
                                                     "<eos>",         "[SEP]",           "<eod>"};

// Ids have 32 bits, and the end of a document and a mask token come on top.
constexpr int64_t kLargestNullVocabulary = INT32_MAX - 2;

/// The token of a role, else the first of the usual spellings.
template <size_t n>
std::optional<int32_t> find_token(const Tokenizer& tokenizer, std::string_view role,
                                  const std::array<std::string_view, n>& pieces) {
  if (const auto id = tokenizer.special(role)) return id;
  for (const std::string_view piece : pieces) {
    if (const auto id = tokenizer.id_of(piece)) return id;
  }
  return std::nullopt;
}

/// The special tokens that a tokenizer_config.json names; none when it is not there.
BpeTokenizer::Roles read_roles(const fs::path& path) {
  BpeTokenizer::Roles roles;
  if (!fs::exists(path)) return roles;
  const nlohmann::json config = base::read_json(path);
  for (const char* role : {"eos_token", "mask_token"}) {
    const nlohmann::json& value = json_member(config, role);
    const nlohmann::json& content = value.is_object() ? json_member(value, "content") : value;
    if (content.is_string()) roles[role] = content.get<std::string>();
  }
  return roles;
}

/// The size in the JSON of a NullTokenizer; nothing for other files.
std::optional<int64_t> null_vocab_size(const std::string& text, const fs::path& path) {
  constexpr size_t longest = 1000;  // a tokenizer.json is not parsed twice
  if (text.size() > longest) return std::nullopt;
  const nlohmann::json json = base::parse_json(text, path.string());
  if (json_type(json) != "NullTokenizer") return std::nullopt;
  const nlohmann::json& size = json_member(json, "vocab_size");
  base::require(size.is_number_unsigned() && size.get<uint64_t>() >= 1 &&
                    size.get<uint64_t>() <= kLargestNullVocabulary,
                "{}: vocab_size {} of a NullTokenizer is not 1 to {}", path.string(), size.dump(),
                kLargestNullVocabulary);
  return size.get<int64_t>();
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const config::TokenizerOptions& options) {
  if (options.tokenizer_type == config::TokenizerType::null) {
    if (options.vocab_size < 1 || options.vocab_size > kLargestNullVocabulary) {
      base::fail_usage("--vocab-size {}: the NullTokenizer needs 1 to {}", options.vocab_size,
                       kLargestNullVocabulary);
    }
    return std::make_shared<NullTokenizer>(options.vocab_size);
  }
  if (options.tokenizer_model.empty()) {
    base::fail_usage("--tokenizer-model is missing: a tokenizer.json or a folder that holds one");
  }
  fs::path path(options.tokenizer_model);
  if (fs::is_directory(path)) path /= "tokenizer.json";
  std::string text = base::read_file(path);
  if (const auto size = null_vocab_size(text, path)) return std::make_shared<NullTokenizer>(*size);
  const auto roles = read_roles(path.parent_path() / "tokenizer_config.json");
  auto tokenizer = std::make_shared<BpeTokenizer>(std::move(text), path.string(), roles);
  for (const auto& [role, token] : roles) {
    if (tokenizer->special(role)) continue;
    base::warn_once(fmt::format("{}: {} '{}' of the tokenizer_config.json is no token of it", path.string(),
                                role, token));
  }
  base::require(options.vocab_size == 0 || options.vocab_size == tokenizer->vocab_size(),
                "--vocab-size {}: but {} has {} ids", options.vocab_size, path.string(),
                tokenizer->vocab_size());
  return tokenizer;
}

int64_t pad_vocab_size(int64_t size, int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

Vocabulary make_vocabulary(std::shared_ptr<const Tokenizer> tokenizer,
                           const config::TokenizerOptions& options, bool needs_mask) {
  Vocabulary vocabulary;
  vocabulary.vocab_size = tokenizer->vocab_size();
  vocabulary.eod_token = find_token(*tokenizer, "eos_token", kEodTokens);
  if (!options.mask_token.empty()) {
    vocabulary.mask_token = tokenizer->id_of(options.mask_token);
    base::require(vocabulary.mask_token.has_value(), "--mask-token '{}': the tokenizer has no such token",
                  options.mask_token);
  } else {
    vocabulary.mask_token = find_token(*tokenizer, "mask_token", kMaskTokens);
  }
  if (needs_mask && !vocabulary.mask_token) {
    vocabulary.mask_token = static_cast<int32_t>(vocabulary.vocab_size++);
    vocabulary.mask_added = true;
  }
  vocabulary.padded_vocab_size = pad_vocab_size(vocabulary.vocab_size, options.make_vocab_size_divisible_by);
  vocabulary.tokenizer = std::move(tokenizer);
  return vocabulary;
}

}  // namespace megadlm::tokenizers
