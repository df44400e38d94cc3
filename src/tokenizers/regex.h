#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace megadlm::tokenizers {

/// A compiled pattern of a tokenizer.json (see regex_dialect.h), run by PCRE2. Safe to use from many threads.
class Regex {
 public:
  /// An Error that names the pattern when it cannot be compiled.
  explicit Regex(const std::string& pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  /// The matches of one text, which must be valid UTF-8 and outlive this.
  class Matches {
   public:
    /// The next match's begin and end, or npos twice at the end. An empty match right behind the match
    /// before it is passed over. A match that would take too much work is an Error.
    std::pair<size_t, size_t> next();

   private:
    friend class Regex;
    Matches(const Regex& regex, std::string_view text, bool newer)
        : regex_(regex), text_(text), newer_(newer) {}
    const Regex& regex_;
    std::string_view text_;
    bool newer_;
    size_t position_ = 0;
    size_t last_end_ = std::string_view::npos;
  };
  Matches matches(std::string_view text) const;

 private:
  struct Code;
  std::pair<size_t, size_t> find(std::string_view text, size_t start, bool newer) const;

  std::string pattern_;
  /// For text of characters that PCRE2 knows, and for any text.
  std::unique_ptr<Code> usual_, newer_;
};

}  // namespace megadlm::tokenizers
