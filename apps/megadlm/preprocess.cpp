#include "data/preprocess/preprocess.h"

#include <fmt/format.h>

#include "base/log.h"
#include "commands.h"
#include "config/parser.h"

namespace megadlm::apps {

int preprocess_command(const std::vector<std::string>& arguments) {
  config::PreprocessOptions options;
  config::TokenizerOptions tokenizer;
  config::Parser parser("preprocess", "Turn text into training data: Megatron-LM's .bin and .idx files.");
  parser.add(options);
  parser.add(tokenizer);
  if (!parser.parse(arguments)) return 0;
  base::start_logging();
  const auto vocabulary =
      tokenizers::make_vocabulary(tokenizers::load_tokenizer(tokenizer), tokenizer, false);
  const data::PreprocessResult result = data::preprocess(options, vocabulary);
  for (const auto& key : result.keys) {
    fmt::print(
        "{}: {} documents, {} tokens, {} bytes of text, {:.3f} bytes/token, {} empty documents left out\n",
        key.prefix, key.documents, key.tokens, key.text_bytes,
        static_cast<double>(key.text_bytes) / static_cast<double>(key.tokens), key.empty_documents);
  }
  for (const auto& [reason, count] : result.skipped) fmt::print("skipped {}: {}\n", reason, count);
  return 0;
}

}  // namespace megadlm::apps
