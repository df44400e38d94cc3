#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace megadlm::tokenizers {

/// What a tokenizer.json does to text before it is cut: NFC, NFD, NFKC, NFKD (UAX 15), Lowercase, and
/// sequences of them. As in the reference library the normal forms are those of Unicode 12.0 (combining
/// marks: 9.0): later characters stay as they are.
class Normalizer {
 public:
  Normalizer() = default;
  /// Reads the "normalizer" of the file `place`; another kind is an Error that names it.
  Normalizer(const nlohmann::json& normalizer, const std::string& place);

  bool empty() const { return steps_.empty(); }
  /// `text` must be valid UTF-8.
  std::string apply(std::string_view text) const;

 private:
  enum class Step { nfc, nfd, nfkc, nfkd, lowercase };
  static std::string apply(Step step, const std::string& text);
  void read(const nlohmann::json& normalizer, const std::string& place, int depth);

  std::vector<Step> steps_;
};

}  // namespace megadlm::tokenizers
