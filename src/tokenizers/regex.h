#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace megadlm::tokenizers {

/// A compiled pattern (PCRE2, UTF-8, Unicode classes, JIT). Safe to use from many threads.
class Regex {
 public:
  /// An Error that names the pattern when it cannot be compiled.
  explicit Regex(const std::string& pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  /// First match of `text` at or after byte `start`: its begin and end, or npos twice. `text` must be valid
  /// UTF-8. A match that would take too much work is an Error.
  std::pair<size_t, size_t> find(std::string_view text, size_t start) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
  std::string pattern_;
};

}  // namespace megadlm::tokenizers
