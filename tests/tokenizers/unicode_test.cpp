#include "tokenizers/unicode.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"
#include "tokenizers/normalizer.h"

namespace megadlm::tokenizers {
namespace {

using megadlm::testing::error_of;
using nlohmann::json;

TEST(Utf8, FindsTheFirstInvalidByte) {
  const std::string valid = "plain text, é, 北, 😀";
  EXPECT_EQ(first_invalid_utf8(valid), std::string_view::npos);
  for (const std::string_view bad :
       {"\x80", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE5\x8C", "\xF0\x9F\x98"}) {
    EXPECT_EQ(first_invalid_utf8(valid + std::string(bad) + "abcdefgh"), valid.size());
    EXPECT_EQ(first_invalid_utf8(valid + std::string(bad)), valid.size());
  }
}

TEST(Unicode, PropertiesReachToUnicode16) {
  EXPECT_TRUE(is_letter('a') && is_letter(0x31350) && is_letter(0x10D50));
  EXPECT_FALSE(is_letter('1') || is_letter(0x0301) || is_letter(0x1CCF3));
  EXPECT_TRUE(is_number('1') && is_number(0x2167) && is_number(0x1CCF3));
  EXPECT_TRUE(is_white_space(0x85) && is_white_space(0x3000));
  EXPECT_FALSE(is_white_space(0x180E) || is_white_space(0x200B));
  EXPECT_TRUE(is_word_character('_') && is_word_character(0x301) && is_word_character(0x11F05));
  EXPECT_FALSE(is_word_character('-'));
}

std::string normalized(const json& part, std::string_view text) { return Normalizer(part, "f").apply(text); }

TEST(Normalizer, NormalFormsAndLowercase) {
  EXPECT_EQ(normalized({{"type", "NFC"}}, "e\u0301 ﬁ"), "é ﬁ");
  EXPECT_EQ(normalized({{"type", "NFD"}}, "é"), "e\u0301");
  EXPECT_EQ(normalized({{"type", "NFKC"}}, "ﬁ"), "fi");
  EXPECT_EQ(normalized({{"type", "NFKD"}}, "ﬁé"), "fie\u0301");
  EXPECT_EQ(normalized({{"type", "Lowercase"}}, "ÄΑΣİ\U00010D50"), "äασi\u0307\U00010D70");
  EXPECT_EQ(normalized({{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}, {{"type", "Lowercase"}}}}},
                       "ＡＢ"),
            "ab");
  EXPECT_EQ(normalized(nullptr, "Éﬁ"), "Éﬁ");
  // Unknown to Unicode 12.0, so left alone as the reference does: a modifier letter of 14.0.
  EXPECT_EQ(normalized({{"type", "NFKC"}}, "\uA7F2"), "\uA7F2");
}

TEST(Normalizer, RefusesByName) {
  EXPECT_NE(error_of([] {
              Normalizer({{"type", "Replace"}}, "some.json");
            }).find("Replace"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              Normalizer({{"type", "Sequence"}}, "some.json");
            }).find("normalizers"),
            std::string::npos);
}

}  // namespace
}  // namespace megadlm::tokenizers
