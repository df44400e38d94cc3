#include "tokenizers/regex.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/temporary_folder.h"
#include "tokenizers/regex_dialect.h"

namespace megadlm::tokenizers {
namespace {

using megadlm::testing::error_of;
using Spans = std::vector<std::pair<size_t, size_t>>;

Spans all_matches(const std::string& pattern, std::string_view text) {
  const Regex regex(pattern);
  Regex::Matches matches = regex.matches(text);
  Spans spans;
  for (auto span = matches.next(); span.first != std::string_view::npos; span = matches.next())
    spans.push_back(span);
  return spans;
}

TEST(Regex, FindsMatchesInOrder) {
  EXPECT_EQ(all_matches("b+", "abbab"), (Spans{{1, 3}, {4, 5}}));
  EXPECT_EQ(all_matches("c", "abbab"), Spans{});
  EXPECT_EQ(all_matches("[äö]", "aäbö"), (Spans{{1, 3}, {4, 6}}));
}

TEST(Regex, AnEmptyMatchBehindAMatchDoesNotCount) {
  EXPECT_EQ(all_matches("b*", "abba"), (Spans{{0, 0}, {1, 3}, {4, 4}}));
  EXPECT_EQ(all_matches("(?=é)", "aéé"), (Spans{{1, 1}, {3, 3}}));
  EXPECT_EQ(all_matches("x*", ""), (Spans{{0, 0}}));
}

TEST(Regex, WhiteSpaceIsThatOfUnicode) {
  const std::string vowel_separator = "\xE1\xA0\x8E", next_line = "\xC2\x85";
  EXPECT_EQ(all_matches(R"(\s)", vowel_separator), Spans{});
  EXPECT_EQ(all_matches(R"([^\s])", vowel_separator), (Spans{{0, 3}}));
  EXPECT_EQ(all_matches(R"(\s)", next_line), (Spans{{0, 2}}));
}

TEST(Regex, KnowsLettersOfUnicode16) {
  const std::string garay = "\xF0\x90\xB5\x90",
                    ideograph = "\xF0\xB1\x8D\x90";  // U+10D50 (16.0), U+31350 (15.0)
  EXPECT_EQ(all_matches(R"(\p{L}+)", garay + "a" + ideograph), (Spans{{0, 9}}));
  EXPECT_EQ(all_matches(R"([\p{Lu}x]+)", garay + ideograph), (Spans{{0, 4}}));
  EXPECT_EQ(all_matches(R"(\P{L}+)", garay + "1"), (Spans{{4, 5}}));
  EXPECT_EQ(all_matches(R"([^\p{L}]+)", garay + "1"), (Spans{{4, 5}}));
}

TEST(Regex, RefusesWhatItsDialectWouldReadDifferently) {
  for (const char* part : {R"(\w)", R"(\b)", R"(\h)", R"(\X)", R"(\1)", "[a[b]]", "[a&&b]", "(?m:.)", "(?x)",
                           "a{2}+", "a{2}?", R"([\P{L}])", R"(\pL)", R"(\p{L)"}) {
    EXPECT_NE(error_of([&] { to_pcre(part, false); }).find(part[0] == '(' ? "(?" : "not supported"),
              std::string::npos)
        << part;
  }
  EXPECT_NE(error_of([] { Regex regex("(a"); }).find("(a"), std::string::npos);
  EXPECT_NE(error_of([] { Regex regex("\xFF"); }).find("UTF-8"), std::string::npos);
  EXPECT_NE(error_of([] { Regex regex("\\"); }), "");
  EXPECT_EQ(error_of([] { Regex regex(R"((?i:'s)|a{2,3}?|[\]\-]|\u0041|[^\d\n]\z)"); }), "");
}

TEST(Regex, HardWorkEndsInAnErrorAndNotInACrash) {
  EXPECT_NE(error_of([] { all_matches("(?:a+)+[bc]", std::string(64, 'a')); }).find("(?:a+)+[bc]"),
            std::string::npos);
  // More than the stack of compiled patterns holds.
  const std::string deep(1'000'000, 'a');
  EXPECT_EQ(all_matches("(?:(a)|b)+", deep), (Spans{{0, deep.size()}}));
}

}  // namespace
}  // namespace megadlm::tokenizers
