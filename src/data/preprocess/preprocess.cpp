#include "data/preprocess/preprocess.h"

#include <deque>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/progress.h"
#include "data/documents/document_reader.h"
#include "data/indexed/indexed_writer.h"

namespace megadlm::data {
namespace {

constexpr size_t kChunkBytes = 1 << 20;  // text that a thread tokenises at a time

/// Documents of one key, in order.
struct Chunk {
  std::vector<std::string> texts;
  std::vector<std::string> places;
};
using TokenizedChunk = std::vector<std::vector<int32_t>>;

TokenizedChunk tokenize(const tokenizers::Tokenizer& tokenizer, const Chunk& chunk) {
  TokenizedChunk result;
  for (size_t i = 0; i < chunk.texts.size(); ++i) {
    try {
      result.push_back(tokenizer.encode(chunk.texts[i]));
    } catch (const base::Error& error) {
      base::fail("{}: {}", chunk.places[i], error.what());
    }
  }
  return result;
}

/// One key's pair being written.
class Output {
 public:
  Output(const std::string& prefix, const tokenizers::Vocabulary& vocabulary, std::optional<int32_t> eod)
      : writer_(prefix, vocabulary.padded_vocab_size), eod_(eod) {
    summary_.prefix = prefix;
  }

  void write(const Chunk& chunk, TokenizedChunk&& tokenized) {
    for (size_t i = 0; i < tokenized.size(); ++i) {
      if (tokenized[i].empty()) {
        ++summary_.empty_documents;
        continue;
      }
      summary_.text_bytes += static_cast<int64_t>(chunk.texts[i].size());
      if (eod_) tokenized[i].push_back(*eod_);
      writer_.add_document(tokenized[i]);
    }
  }

  int64_t documents() const { return writer_.num_documents(); }

  PreprocessSummary finish() {
    summary_.documents = writer_.num_documents();
    summary_.tokens = writer_.num_tokens();
    base::require(summary_.tokens > 0, "{}: the input has no text: {} empty documents, nothing to write",
                  summary_.prefix, summary_.empty_documents);
    writer_.finish();
    const nlohmann::json json = {
        {"documents", summary_.documents}, {"tokens", summary_.tokens}, {"text_bytes", summary_.text_bytes}};
    base::write_file(summary_.prefix + ".json", json.dump() + "\n");
    return summary_;
  }

 private:
  IndexedWriter writer_;
  std::optional<int32_t> eod_;
  PreprocessSummary summary_;
};

/// Reads documents until the chunks of all keys hold about kChunkBytes; false at the end of the input.
bool read_chunks(DocumentReader& reader, std::vector<Chunk>& chunks) {
  Document document;
  for (size_t bytes = 0; bytes < kChunkBytes;) {
    if (!reader.next(document)) return false;
    for (size_t key = 0; key < chunks.size(); ++key) {
      bytes += document.texts[key].size();
      chunks[key].texts.push_back(std::move(document.texts[key]));
      chunks[key].places.push_back(reader.place());
    }
  }
  return true;
}

/// Tokenises round after round: `workers` chunks at once, written in the order in which they were read.
void run(DocumentReader& reader, const tokenizers::Tokenizer& tokenizer, std::deque<Output>& outputs,
         int64_t workers) {
  base::Progress progress("preprocess", 0, "documents");
  for (bool more = true; more;) {
    std::vector<std::vector<Chunk>> round;
    while (more && static_cast<int64_t>(round.size()) < workers) {
      round.emplace_back(outputs.size());
      more = read_chunks(reader, round.back());
    }
    std::vector<std::future<std::vector<TokenizedChunk>>> results;
    for (const auto& chunks : round) {
      results.push_back(std::async(std::launch::async, [&tokenizer, &chunks] {
        std::vector<TokenizedChunk> tokenized;
        for (const Chunk& chunk : chunks) tokenized.push_back(tokenize(tokenizer, chunk));
        return tokenized;
      }));
    }
    for (size_t i = 0; i < round.size(); ++i) {
      auto tokenized = results[i].get();
      for (size_t key = 0; key < outputs.size(); ++key)
        outputs[key].write(round[i][key], std::move(tokenized[key]));
      progress.update(outputs.front().documents());
    }
  }
}

}  // namespace

PreprocessResult preprocess(const config::PreprocessOptions& options,
                            const tokenizers::Vocabulary& vocabulary) {
  if (options.output_prefix.empty()) base::fail_usage("--output-prefix is missing");
  std::optional<int32_t> eod;
  if (options.append_eod) {
    base::require(vocabulary.eod_token.has_value(),
                  "--append-eod: the tokenizer has no end-of-document token");
    eod = vocabulary.eod_token;
  }
  DocumentReader reader({options.input, options.json_keys, options.plain_text, options.on_error});
  const auto parent = std::filesystem::path(options.output_prefix).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent);
  std::deque<Output> outputs;
  for (const std::string& key : options.json_keys) {
    outputs.emplace_back(fmt::format("{}_{}_document", options.output_prefix, key), vocabulary, eod);
  }
  run(reader, *vocabulary.tokenizer, outputs,
      options.workers > 0 ? options.workers : base::available_cores());
  PreprocessResult result;
  for (Output& output : outputs) result.keys.push_back(output.finish());
  result.skipped = reader.skipped();
  return result;
}

std::optional<int64_t> text_bytes(const std::string& prefix) {
  const std::string path = prefix + ".json";
  if (!std::filesystem::exists(path)) return std::nullopt;
  const auto json = nlohmann::json::parse(base::read_file(path), nullptr, false);
  base::require(json.is_object() && json.contains("text_bytes") && json["text_bytes"].is_number_integer(),
                "{}: expected an object with the number 'text_bytes'", path);
  return json["text_bytes"].get<int64_t>();
}

}  // namespace megadlm::data
