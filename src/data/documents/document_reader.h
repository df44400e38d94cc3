#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/options/data.h"

namespace megadlm::data {

/// What to read and how.
struct DocumentSource {
  std::vector<std::string> paths;
  std::vector<std::string> keys{"text"};  ///< of each JSON object, in this order
  bool plain_text = false;                ///< a document a line, under the first key
  config::OnError on_error = config::OnError::stop;
};

/// One line's texts, a text a key.
struct Document {
  std::vector<std::string> texts;
};

/// Reads lines that end at LF (a CR before it is ignored; a file's byte-order mark is skipped). A line that
/// cannot be used (invalid UTF-8, malformed JSON, a key that is missing or holds no string) is an Error
/// `file:line: what`, or skipped and counted. Blank lines are skipped and counted.
class DocumentReader {
 public:
  explicit DocumentReader(const DocumentSource& source);
  ~DocumentReader();
  DocumentReader(const DocumentReader&) = delete;
  DocumentReader& operator=(const DocumentReader&) = delete;

  /// Reads the next document; false at the end.
  bool next(Document& document);
  /// Skipped lines by reason.
  const std::map<std::string, int64_t>& skipped() const { return skipped_; }
  /// Where the document that was read last stands, as `file:line`.
  std::string place() const;

 private:
  struct State;
  bool next_line(std::string_view& line);
  /// Empty, or why the line cannot be used.
  std::string parse(std::string_view line, Document& document);

  DocumentSource source_;
  std::unique_ptr<State> state_;
  std::map<std::string, int64_t> skipped_;
};

}  // namespace megadlm::data
