#include "tokenizers/bpe/word_splitter.h"

#include <gtest/gtest.h>

#include "base/philox.h"
#include "tokenizers/regex.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

using Pieces = std::vector<std::string>;

Pieces pieces_of(std::string_view text) {
  static const WordSplitter splitter;
  Pieces pieces;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = splitter.end_of_piece(text, begin);
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

TEST(WordSplitter, CutsAsThePatternSays) {
  EXPECT_EQ(pieces_of("Don't we'll"), (Pieces{"Don", "'t", " we", "'ll"}));
  EXPECT_EQ(pieces_of("a  b\n\n c"), (Pieces{"a", " ", " b", "\n\n", " c"}));
  EXPECT_EQ(pieces_of("x1, 23  "), (Pieces{"x", "1", ",", " 23", "  "}));
  EXPECT_EQ(pieces_of("'S '' \t!"), (Pieces{"'", "S", " ''", " ", "\t", "!"}));
  EXPECT_EQ(pieces_of("\t\ta"), (Pieces{"\t", "\t", "a"}));
}

TEST(WordSplitter, AgreesWithTheRegularExpression) {
  const Regex regex(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)");
  const base::Random random(7, base::RandomStream::test);
  constexpr std::string_view usual = "  \n\t''stremvld1!aZ";
  for (uint64_t i = 0; i < 3000; ++i) {
    std::string text;
    for (uint64_t k = 0; k < 24; ++k) {
      const uint64_t kind = random.below(8, i, 1000 + k);
      auto point = static_cast<uint32_t>(kind < 5 ? usual[random.below(usual.size(), i, k)]
                                                  : random.below(kind < 7 ? 0x3100 : 0x110000, i, k));
      if (point >= 0xD800 && point < 0xE000) point -= 0x800;  // surrogates are no characters
      append_utf8(text, point);
    }
    Pieces expected;
    Regex::Matches matches = regex.matches(text);
    for (auto span = matches.next(); span.first != std::string_view::npos; span = matches.next()) {
      expected.push_back(text.substr(span.first, span.second - span.first));
    }
    ASSERT_EQ(pieces_of(text), expected) << text;
  }
}

}  // namespace
}  // namespace megadlm::tokenizers
