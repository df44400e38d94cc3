#include "tokenizers/bpe/byte_alphabet.h"

#include <cstdint>

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

/// The byte that a character stands for; -1 when it is outside the alphabet.
int byte_of(uint32_t point) {
  static const std::array<int16_t, 0x150> inverse = [] {
    std::array<int16_t, 0x150> bytes;
    bytes.fill(-1);
    const auto points = code_points();
    for (size_t byte = 0; byte < 256; ++byte) bytes[points[byte]] = static_cast<int16_t>(byte);
    return bytes;
  }();
  return point < inverse.size() ? inverse[point] : -1;
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

bool in_byte_alphabet(std::string_view text) {
  for (size_t position = 0; position < text.size();) {
    if (byte_of(next_code_point(text, position)) < 0) return false;
  }
  return true;
}

std::string alphabet_to_bytes(std::string_view text) {
  if (!in_byte_alphabet(text)) return std::string(text);
  std::string bytes;
  for (size_t position = 0; position < text.size();) {
    bytes.push_back(static_cast<char>(byte_of(next_code_point(text, position))));
  }
  return bytes;
}

}  // namespace megadlm::tokenizers
