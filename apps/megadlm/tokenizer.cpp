#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "commands.h"
#include "config/options/tokenizer_training.h"
#include "config/parser.h"
#include "data/documents/document_reader.h"
#include "tokenizers/training/bpe_trainer.h"
#include "tokenizers/vocabulary.h"

namespace megadlm::apps {
namespace {

struct CodingOptions {
  static constexpr std::string_view group = "Coding";
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.json, "json", "Documents are JSON strings, a line each.");
  }
};

int train(const std::vector<std::string>& arguments) {
  config::TokenizerTrainingOptions options;
  config::Parser parser("tokenizer train", "Learn a byte-level BPE from text.");
  parser.add(options);
  if (!parser.parse(arguments)) return 0;
  base::start_logging();
  if (options.output.empty())
    base::fail_usage("--output is missing: the folder to write tokenizer.json into");
  tokenizers::BpeTrainingOptions training;
  training.vocab_size = options.vocab_size;
  tokenizers::BpeTrainer trainer(training);
  data::DocumentReader reader({options.input, options.json_keys, options.plain_text, config::OnError::stop});
  for (data::Document document; reader.next(document);) {
    for (const std::string& text : document.texts) trainer.add(text);
  }
  const std::string json = trainer.train();
  std::filesystem::create_directories(options.output);
  const auto path = std::filesystem::path(options.output) / "tokenizer.json";
  base::write_file(path, json);
  fmt::print("{}\n", path.string());
  return 0;
}

/// Handles each line of standard input with what the options name.
template <class Handle>
int code(const char* command, const char* summary, const std::vector<std::string>& arguments,
         const Handle& handle) {
  config::TokenizerOptions tokenizer_options;
  CodingOptions coding;
  config::Parser parser(command, summary);
  parser.add(tokenizer_options);
  parser.add(coding);
  if (!parser.parse(arguments)) return 0;
  base::start_logging();
  const auto tokenizer = tokenizers::load_tokenizer(tokenizer_options);
  int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    try {
      std::cout << handle(*tokenizer, line, coding.json) << '\n';
    } catch (const base::Error& error) {
      base::fail("standard input:{}: {}", number, error.what());
    }
  }
  return 0;
}

std::string encode_line(const tokenizers::Tokenizer& tokenizer, const std::string& line, bool json) {
  std::string text = line;
  if (json) {
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    base::require(parsed.is_string(), "not a JSON string");
    text = parsed.get<std::string>();
  }
  return fmt::format("{}", fmt::join(tokenizer.encode(text), " "));
}

std::string decode_line(const tokenizers::Tokenizer& tokenizer, const std::string& line, bool json) {
  std::vector<int32_t> ids;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    try {
      size_t used = 0;
      ids.push_back(std::stoi(word, &used));
      base::require(used == word.size(), "'{}' is not an id", word);
    } catch (const std::logic_error&) {
      base::fail("'{}' is not an id", word);
    }
  }
  const std::string text = tokenizer.decode(ids);
  return json ? nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : text;
}

int info(const std::vector<std::string>& arguments) {
  config::TokenizerOptions options;
  config::Parser parser("tokenizer info", "Show a tokenizer's sizes and special tokens.");
  parser.add(options);
  if (!parser.parse(arguments)) return 0;
  base::start_logging();
  const auto vocabulary = tokenizers::make_vocabulary(tokenizers::load_tokenizer(options), options, true);
  fmt::print("ids: {}\npadded: {}\nmask token: {}{}\n", vocabulary.tokenizer->vocab_size(),
             vocabulary.padded_vocab_size, *vocabulary.mask_token, vocabulary.mask_added ? " (added)" : "");
  if (vocabulary.eod_token) fmt::print("end of document: {}\n", *vocabulary.eod_token);
  return 0;
}

}  // namespace

int tokenizer_command(const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (name == "train") return train(rest);
  if (name == "encode") {
    return code("tokenizer encode", "Text to ids: a document a line on standard input.", rest, encode_line);
  }
  if (name == "decode")
    return code("tokenizer decode", "Ids to text: the inverse of encode.", rest, decode_line);
  if (name == "info") return info(rest);
  if (name == "--help" || name == "-h") {
    fmt::print("Usage: megadlm tokenizer train|encode|decode|info [options]\n");
    return 0;
  }
  base::fail_usage("tokenizer: expected train, encode, decode or info, seen '{}'", name);
}

}  // namespace megadlm::apps
