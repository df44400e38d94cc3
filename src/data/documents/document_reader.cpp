#include "data/documents/document_reader.h"

#include <simdjson.h>

#include "base/error.h"
#include "base/file.h"
#include "tokenizers/unicode.h"

namespace megadlm::data {

struct DocumentReader::State {
  size_t file_number = 0;
  base::MappedFile file;
  size_t position = 0;
  int64_t line_number = 0;
  bool open = false;
  simdjson::dom::parser parser;
};

DocumentReader::DocumentReader(const DocumentSource& source)
    : source_(source), state_(std::make_unique<State>()) {
  if (source_.paths.empty()) base::fail_usage("--input is missing");
  if (source_.keys.empty()) base::fail_usage("--json-keys is empty");
}

DocumentReader::~DocumentReader() = default;

std::string DocumentReader::place() const {
  return fmt::format("{}:{}", state_->file.path().string(), state_->line_number);
}

bool DocumentReader::next_line(std::string_view& line) {
  State& state = *state_;
  while (true) {
    if (!state.open) {
      if (state.file_number == source_.paths.size()) return false;
      state.file = base::MappedFile(source_.paths[state.file_number++]);
      state.position = state.file.text().starts_with("\xEF\xBB\xBF") ? 3 : 0;
      state.line_number = 0;
      state.open = true;
    }
    const std::string_view text = state.file.text();
    if (state.position < text.size()) {
      const size_t end = std::min(text.find('\n', state.position), text.size());
      line = text.substr(state.position, end - state.position);
      if (line.ends_with('\r')) line.remove_suffix(1);
      state.position = end + 1;
      ++state.line_number;
      return true;
    }
    state.open = false;
  }
}

std::string DocumentReader::parse(std::string_view line, Document& document) {
  document.texts.clear();
  if (tokenizers::first_invalid_utf8(line) != std::string_view::npos) return "invalid UTF-8";
  if (source_.plain_text) {
    document.texts.emplace_back(line);
    return {};
  }
  simdjson::dom::element parsed;
  if (const auto error = state_->parser.parse(simdjson::padded_string(line)).get(parsed)) {
    return fmt::format("malformed JSON ({})", simdjson::error_message(error));
  }
  simdjson::dom::object object;
  if (parsed.get_object().get(object)) return "not a JSON object";
  for (const std::string& key : source_.keys) {
    simdjson::dom::element value;
    std::string_view text;
    if (object.at_key(key).get(value)) return fmt::format("key '{}' is missing", key);
    if (value.get_string().get(text)) return fmt::format("key '{}' holds no string", key);
    document.texts.emplace_back(text);
  }
  return {};
}

bool DocumentReader::next(Document& document) {
  std::string_view line;
  while (next_line(line)) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) {
      ++skipped_["blank line"];
      continue;
    }
    const std::string problem = parse(line, document);
    if (problem.empty()) return true;
    base::require(source_.on_error == config::OnError::skip, "{}: {} (--on-error skip leaves such lines out)",
                  place(), problem);
    ++skipped_[problem.substr(0, problem.find(" ("))];
  }
  return false;
}

}  // namespace megadlm::data
