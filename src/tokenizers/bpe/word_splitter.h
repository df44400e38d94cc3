#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace megadlm::tokenizers {

/// Cuts text as GPT-2's pattern does, without a regular expression engine:
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Every character falls into some piece.
class WordSplitter {
 public:
  WordSplitter();

  /// The end of the piece that begins at byte `begin`. `text` must be valid UTF-8 and `begin` inside it.
  size_t end_of_piece(std::string_view text, size_t begin) const;

 private:
  enum class Kind : uint8_t { letter, number, space, other };
  static Kind classify(uint32_t code_point);
  /// The kind of the character at `position`, which is moved behind it.
  Kind next_kind(std::string_view text, size_t& position) const;
  size_t end_of_run(std::string_view text, size_t position, Kind kind) const;
  size_t end_of_spaces(std::string_view text, size_t begin, size_t position) const;

  std::vector<Kind> kinds_;  ///< of the first 65,536 characters
};

}  // namespace megadlm::tokenizers
