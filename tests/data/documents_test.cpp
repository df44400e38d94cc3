#include <gtest/gtest.h>

#include "base/error.h"
#include "data/documents/document_reader.h"
#include "data/indexed/indexed_dataset.h"
#include "data/preprocess/preprocess.h"
#include "support/temporary_folder.h"

namespace megadlm::data {
namespace {

using megadlm::testing::error_of;
using megadlm::testing::read_all;
using megadlm::testing::TemporaryFolder;

std::vector<std::string> read_texts(const DocumentSource& source,
                                    std::map<std::string, int64_t>* skipped = nullptr) {
  DocumentReader reader(source);
  std::vector<std::string> texts;
  for (Document document; reader.next(document);)
    texts.insert(texts.end(), document.texts.begin(), document.texts.end());
  if (skipped != nullptr) *skipped = reader.skipped();
  return texts;
}

DocumentSource source_of(const std::string& path) {
  DocumentSource source;
  source.paths = {path};
  return source;
}

TEST(DocumentReader, RecordsEndAtLineFeedsOnly) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.jsonl",
                                        "\xEF\xBB\xBF{\"text\": \"first\"}\n{\"text\": \"a\xE2\x80\xA8"
                                        "b\xC2\x85"
                                        "c\"}\n{\"text\": \"crlf\"}\r\n{\"text\": \"last\"}");
  EXPECT_EQ(read_texts(source_of(path)), (std::vector<std::string>{"first",
                                                                   "a\xE2\x80\xA8"
                                                                   "b\xC2\x85"
                                                                   "c",
                                                                   "crlf", "last"}));
}

TEST(DocumentReader, TakesSeveralKeysAndFiles) {
  const TemporaryFolder folder;
  DocumentSource source =
      source_of(folder.write("a.jsonl", "{\"b\": \"2\", \"x\": [1, {}], \"a\": \"1\"}\n"));
  source.paths.push_back(folder.write("b.jsonl", "{\"a\": \"3\", \"b\": \"4\"}\n"));
  source.keys = {"a", "b"};
  EXPECT_EQ(read_texts(source), (std::vector<std::string>{"1", "2", "3", "4"}));
}

TEST(DocumentReader, PlainTextIsADocumentALine) {
  const TemporaryFolder folder;
  DocumentSource source = source_of(folder.write("a.txt", "one\n\n  \ntwo {\n"));
  source.plain_text = true;
  std::map<std::string, int64_t> skipped;
  EXPECT_EQ(read_texts(source, &skipped), (std::vector<std::string>{"one", "two {"}));
  EXPECT_EQ(skipped.at("blank line"), 2);
}

TEST(DocumentReader, BadLinesAreNamedOrCounted) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{\"text\": \"\xFF\"}", "invalid UTF-8"},
      {"{\"text\": \"x\"", "malformed JSON"},
      {"{\"other\": \"x\"}", "key 'text' is missing"},
      {"{\"text\": 5}", "key 'text' holds no string"},
      {"[1]", "not a JSON object"},
      {"{\"text\": \"x\"} y", "malformed JSON"},
      {"{\"text\": \"\\ud800\"}", "malformed JSON"},
      {"{\"text\": null}", "holds no string"}};
  for (const auto& [line, what] : cases) {
    const TemporaryFolder folder;
    DocumentSource source =
        source_of(folder.write("a.jsonl", "{\"text\": \"good\"}\n" + line + "\n{\"text\": \"more\"}\n"));
    const std::string error = error_of([&] { read_texts(source); });
    EXPECT_NE(error.find("a.jsonl:2: "), std::string::npos) << line << ": " << error;
    EXPECT_NE(error.find(what), std::string::npos) << line << ": " << error;
    source.on_error = config::OnError::skip;
    std::map<std::string, int64_t> skipped;
    EXPECT_EQ(read_texts(source, &skipped), (std::vector<std::string>{"good", "more"})) << line;
    int64_t count = 0;
    for (const auto& [reason, number] : skipped) count += number;
    EXPECT_EQ(count, 1);
  }
}

/// One id a byte, and id 256 at the end of a document.
class ByteTokenizer : public tokenizers::Tokenizer {
 public:
  std::vector<int32_t> encode(std::string_view text) const override {
    return {reinterpret_cast<const uint8_t*>(text.data()),
            reinterpret_cast<const uint8_t*>(text.data()) + text.size()};
  }
  std::string decode(const std::vector<int32_t>& ids, bool) const override {
    return {ids.begin(), ids.end()};
  }
  int64_t vocab_size() const override { return 257; }
  std::optional<int32_t> id_of(std::string_view piece) const override {
    return piece == "<eod>" ? std::optional<int32_t>(256) : std::nullopt;
  }
  std::string to_json() const override { return "{}"; }
};

tokenizers::Vocabulary byte_vocabulary() {
  return tokenizers::make_vocabulary(std::make_shared<ByteTokenizer>(), {}, false);
}

config::PreprocessOptions options_of(const TemporaryFolder& folder, const std::string& input,
                                     const std::string& prefix) {
  config::PreprocessOptions options;
  options.input = {input};
  options.output_prefix = folder.file(prefix);
  options.append_eod = true;
  return options;
}

TEST(Preprocess, CountsTheEndTokenAndLeavesEmptyDocumentsOut) {
  const TemporaryFolder folder;
  const std::string input = folder.write(
      "a.jsonl", "{\"text\": \"\"}\n{\"text\": \"ab\"}\n{\"text\": \"   \"}\n{\"text\": \"cd\"}\n");
  const PreprocessResult result = preprocess(options_of(folder, input, "out"), byte_vocabulary());
  const IndexedDataset dataset(folder.file("out_text_document"));
  EXPECT_EQ(dataset.num_documents(), 3);
  EXPECT_EQ(result.keys[0].empty_documents, 1);
  EXPECT_EQ(result.keys[0].text_bytes, 7);
  EXPECT_EQ(text_bytes(folder.file("out_text_document")), 7);
  int64_t last = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const auto span = dataset.document(i);
    dataset.read(span.first + span.count - 1, 1, &last);
    EXPECT_EQ(last, 256) << i;
  }
}

TEST(Preprocess, FilesDoNotDependOnTheNumberOfWorkers) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 3000; ++i)
    lines += "{\"text\": \"" + std::string(i * 7 % 2000 + 1, static_cast<char>('a' + i % 26)) + "\"}\n";
  const std::string input = folder.write("a.jsonl", lines);
  for (const int64_t workers : {1, 2, 5}) {
    auto options = options_of(folder, input, "w" + std::to_string(workers));
    options.workers = workers;
    preprocess(options, byte_vocabulary());
  }
  for (const char* suffix : {"_text_document.bin", "_text_document.idx"}) {
    EXPECT_EQ(read_all(folder.file("w1") + suffix), read_all(folder.file("w2") + suffix));
    EXPECT_EQ(read_all(folder.file("w1") + suffix), read_all(folder.file("w5") + suffix));
  }
}

TEST(Preprocess, NothingIsWrittenForAnEmptyCorpus) {
  const TemporaryFolder folder;
  for (const char* content : {"", "\n\n", "{\"text\": \"\"}\n"}) {
    const std::string input = folder.write("a.jsonl", content);
    EXPECT_NE(
        error_of([&] { preprocess(options_of(folder, input, "out"), byte_vocabulary()); }).find("no text"),
        std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder.file("out_text_document.bin")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("out_text_document.idx")));
  }
}

}  // namespace
}  // namespace megadlm::data
