#include "tokenizers/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "base/error.h"

namespace megadlm::tokenizers {
namespace {

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

/// What a thread needs to match: a result and a stack for compiled patterns.
struct Workspace {
  Workspace() {
    pcre2_jit_stack_assign(context, nullptr, stack);
    pcre2_set_heap_limit(context, 1u << 20);  // kibibytes
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
  pcre2_code* code = nullptr;
  ~Code() { pcre2_code_free(code); }
};

Regex::Regex(const std::string& pattern) : code_(std::make_unique<Code>()), pattern_(pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                              PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  base::require(code_->code != nullptr, "regular expression '{}': {} at byte {}", pattern, message_of(error),
                offset);
  pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

std::pair<size_t, size_t> Regex::find(std::string_view text, size_t start) const {
  thread_local Workspace workspace;
  const auto match = [&](uint32_t options) {
    return pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start,
                       options | PCRE2_NO_UTF_CHECK, workspace.match, workspace.context);
  };
  int result = match(0);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result == PCRE2_ERROR_NOMATCH) return {std::string_view::npos, std::string_view::npos};
  base::require(result >= 0, "regular expression '{}' on {} bytes of text: {}", pattern_, text.size() - start,
                message_of(result));
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(workspace.match);
  return {bounds[0], bounds[1]};
}

}  // namespace megadlm::tokenizers
