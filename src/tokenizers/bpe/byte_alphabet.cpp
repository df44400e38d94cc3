#include "tokenizers/bpe/byte_alphabet.h"

#include <cstdint>
#include <unordered_map>

#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

std::array<uint32_t, 256> code_points() {
  std::array<uint32_t, 256> points{};
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    points[byte] = printable ? byte : next++;
  }
  return points;
}

}  // namespace

const std::array<std::string, 256>& byte_alphabet() {
  static const std::array<std::string, 256> alphabet = [] {
    std::array<std::string, 256> strings;
    const auto points = code_points();
    for (size_t byte = 0; byte < 256; ++byte) append_utf8(strings[byte], points[byte]);
    return strings;
  }();
  return alphabet;
}

const char* byte_level_pattern() {
  // PCRE2's own \s also takes U+180E, which is no white space of today's Unicode.
  return R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{wspace}\p{L}\p{N}]+|\p{wspace}+(?!\P{wspace})|\p{wspace}+)";
}

std::string bytes_to_alphabet(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += byte_alphabet()[byte];
  return text;
}

std::string alphabet_to_bytes(std::string_view text) {
  static const std::unordered_map<uint32_t, char> inverse = [] {
    std::unordered_map<uint32_t, char> map;
    const auto points = code_points();
    for (size_t byte = 0; byte < 256; ++byte) map[points[byte]] = static_cast<char>(byte);
    return map;
  }();
  std::string bytes;
  for (size_t position = 0; position < text.size();) {
    const uint32_t point = next_code_point(text, position);
    const auto found = inverse.find(point);
    if (found != inverse.end()) {
      bytes.push_back(found->second);
    } else {
      append_utf8(bytes, point);
    }
  }
  return bytes;
}

}  // namespace megadlm::tokenizers
