#include "tokenizers/unicode.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstring>

#include "base/error.h"
#include "tokenizers/newer_characters.h"

namespace megadlm::tokenizers {
namespace {

/// Bits of the general category.
uint32_t category_mask(uint32_t code_point) { return U_GET_GC_MASK(static_cast<UChar32>(code_point)); }

/// Whether eight bytes are all ASCII.
bool all_ascii(const uint8_t* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return (word & 0x8080808080808080u) == 0;
}

}  // namespace

size_t first_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto length = static_cast<int64_t>(text.size());
  for (int64_t i = 0; i < length;) {
    if (bytes[i] < 0x80) {
      i += i + 8 <= length && all_ascii(bytes + i) ? 8 : 1;
      continue;
    }
    const int64_t start = i;
    UChar32 code_point = 0;
    U8_NEXT(bytes, i, length, code_point);
    if (code_point < 0) return static_cast<size_t>(start);
  }
  return std::string_view::npos;
}

void require_utf8(std::string_view text) {
  const size_t bad = first_invalid_utf8(text);
  base::require(bad == std::string_view::npos, "the text is not valid UTF-8: byte {} (0x{:02x})", bad,
                bad == std::string_view::npos ? 0 : static_cast<unsigned char>(text[bad]));
}

uint32_t next_code_point(std::string_view text, size_t& position) {
  UChar32 code_point = 0;
  U8_NEXT_UNSAFE(reinterpret_cast<const uint8_t*>(text.data()), position, code_point);
  return static_cast<uint32_t>(code_point);
}

uint32_t previous_code_point(std::string_view text, size_t& position) {
  UChar32 code_point = 0;
  U8_PREV_UNSAFE(reinterpret_cast<const uint8_t*>(text.data()), position, code_point);
  return static_cast<uint32_t>(code_point);
}

void append_utf8(std::string& text, uint32_t code_point) {
  uint8_t bytes[4];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, code_point);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

bool is_white_space(uint32_t code_point) { return u_isUWhiteSpace(static_cast<UChar32>(code_point)); }

bool is_letter(uint32_t code_point) {
  const uint32_t mask = category_mask(code_point);
  if ((mask & U_GC_CN_MASK) == 0) return (mask & U_GC_L_MASK) != 0;
  const char* newer = newer_category(code_point);
  return newer != nullptr && newer[0] == 'L';
}

bool is_number(uint32_t code_point) {
  const uint32_t mask = category_mask(code_point);
  if ((mask & U_GC_CN_MASK) == 0) return (mask & U_GC_N_MASK) != 0;
  const char* newer = newer_category(code_point);
  return newer != nullptr && newer[0] == 'N';
}

bool is_word_character(uint32_t code_point) {
  const auto character = static_cast<UChar32>(code_point);
  if (const char* newer = newer_category(code_point)) {
    const std::string_view category(newer);
    return category[0] == 'L' || category[0] == 'M' || category == "Nd" || category == "Nl" ||
           category == "Pc";
  }
  return u_hasBinaryProperty(character, UCHAR_ALPHABETIC) ||
         u_hasBinaryProperty(character, UCHAR_JOIN_CONTROL) ||
         (category_mask(code_point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

}  // namespace megadlm::tokenizers
