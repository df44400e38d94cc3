#include "tokenizers/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "base/error.h"
#include "tokenizers/newer_characters.h"
#include "tokenizers/regex_dialect.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

constexpr size_t kNone = std::string_view::npos;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

/// What a thread needs to match: a result and a stack for compiled patterns.
struct Workspace {
  Workspace() {
    pcre2_jit_stack_assign(context, nullptr, stack);
    pcre2_set_heap_limit(context, 1u << 20);         // kibibytes
    pcre2_set_match_limit(context, 1'000'000'000u);  // about as many steps, seconds of work
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    pcre2_match_data_free(match);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  pcre2_match_data* match = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(32 * 1024, 16 * 1024 * 1024, nullptr);
};

}  // namespace

struct Regex::Code {
  Code(const std::string& pattern, bool newer) {
    const std::string translated = to_pcre(pattern, newer);
    int error = 0;
    PCRE2_SIZE offset = 0;
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                         PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &offset, nullptr);
    base::require(code != nullptr, "regular expression '{}': {}", pattern, message_of(error));
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }
  pcre2_code* code = nullptr;
};

Regex::Regex(const std::string& pattern) : pattern_(pattern) {
  require_utf8(pattern);
  usual_ = std::make_unique<Code>(pattern, false);
  newer_ = std::make_unique<Code>(pattern, true);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

Regex::Matches Regex::matches(std::string_view text) const {
  return {*this, text, has_newer_characters(text)};
}

std::pair<size_t, size_t> Regex::find(std::string_view text, size_t start, bool newer) const {
  thread_local Workspace workspace;
  const auto match = [&](uint32_t options) {
    return pcre2_match((newer ? newer_ : usual_)->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                       text.size(), start, options | PCRE2_NO_UTF_CHECK, workspace.match, workspace.context);
  };
  int result = match(0);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result == PCRE2_ERROR_NOMATCH) return {kNone, kNone};
  base::require(result >= 0, "regular expression '{}' on {} bytes of text: {}", pattern_, text.size() - start,
                message_of(result));
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(workspace.match);
  return {bounds[0], bounds[1]};
}

std::pair<size_t, size_t> Regex::Matches::next() {
  while (position_ <= text_.size()) {
    const auto [begin, end] = regex_.find(text_, position_, newer_);
    if (begin == kNone) break;
    if (begin == end && last_end_ == end) {
      if (position_ == text_.size()) break;
      next_code_point(text_, position_);
      continue;
    }
    position_ = last_end_ = end;
    return {begin, end};
  }
  position_ = text_.size() + 1;
  return {kNone, kNone};
}

}  // namespace megadlm::tokenizers
