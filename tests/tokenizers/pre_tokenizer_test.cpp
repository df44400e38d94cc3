#include "tokenizers/bpe/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"

namespace megadlm::tokenizers {
namespace {

using megadlm::testing::error_of;
using nlohmann::json;
using Pieces = std::vector<std::string>;

Pieces pieces_of(const json& part, std::string_view text) {
  Pieces pieces;
  PreTokenizer(part, "f").for_each_piece(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

json split(const json& pattern, const char* behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", invert}};
}

// The values of this test were measured with the reference library.
TEST(PreTokenizer, SplitBehaviors) {
  const json pattern = {{"String", "-"}};
  const std::string text = "a--b-c";
  EXPECT_EQ(pieces_of(split(pattern, "Isolated"), text), (Pieces{"a", "-", "-", "b", "-", "c"}));
  EXPECT_EQ(pieces_of(split(pattern, "Removed"), text), (Pieces{"a", "b", "c"}));
  EXPECT_EQ(pieces_of(split(pattern, "Contiguous"), text), (Pieces{"a", "--", "b", "-", "c"}));
  EXPECT_EQ(pieces_of(split(pattern, "MergedWithPrevious"), text), (Pieces{"a-", "-", "b-", "c"}));
  EXPECT_EQ(pieces_of(split(pattern, "MergedWithNext"), text), (Pieces{"a", "-", "-b", "-c"}));
  EXPECT_EQ(pieces_of(split(pattern, "Removed", true), text), (Pieces{"-", "-", "-"}));
  EXPECT_EQ(pieces_of(split({{"Regex", "-+"}}, "Isolated"), text), (Pieces{"a", "--", "b", "-", "c"}));
  EXPECT_EQ(pieces_of(split({{"Regex", "(?=b)"}}, "Isolated"), text), (Pieces{"a--", "b-c"}));
}

TEST(PreTokenizer, SequencesOfSteps) {
  const json digits = {{"type", "Digits"}, {"individual_digits", true}};
  const json words = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  EXPECT_EQ(pieces_of({{"type", "Digits"}}, "a12b"), (Pieces{"a", "12", "b"}));
  EXPECT_EQ(pieces_of({{"type", "Sequence"}, {"pretokenizers", {digits, words}}}, "it 12 is"),
            (Pieces{"it", " ", "1", "2", " is"}));
  EXPECT_EQ(pieces_of({{"type", "ByteLevel"}, {"use_regex", false}}, "a b"), (Pieces{" a b"}));
  EXPECT_EQ(pieces_of({{"type", "ByteLevel"}, {"use_regex", false}}, " a"), (Pieces{" a"}));
  EXPECT_EQ(pieces_of({{"type", "ByteLevel"}}, ""), Pieces{});
  EXPECT_EQ(pieces_of(nullptr, "a b"), (Pieces{"a b"}));
}

TEST(PreTokenizer, RefusesByName) {
  const auto refusal = [](const json& part) { return error_of([&] { PreTokenizer(part, "some.json"); }); };
  const json words = {{"type", "ByteLevel"}};
  EXPECT_NE(refusal({{"type", "Whitespace"}}).find("Whitespace"), std::string::npos);
  EXPECT_NE(refusal(split({{"Regex", R"(\w+)"}}, "Isolated")).find(R"(\w)"), std::string::npos);
  EXPECT_NE(refusal(split({{"Regex", "a"}}, "Glued")).find("Glued"), std::string::npos);
  EXPECT_NE(refusal(split({{"String", ""}}, "Isolated")).find("pattern"), std::string::npos);
  EXPECT_NE(refusal(split(nullptr, "Isolated")).find("pattern"), std::string::npos);
  EXPECT_NE(refusal({{"type", "Sequence"}}).find("pretokenizers"), std::string::npos);
  EXPECT_NE(refusal({{"type", "Sequence"}, {"pretokenizers", {words, {{"type", "Digits"}}}}})
                .find("after ByteLevel"),
            std::string::npos);
  json deep = words;
  for (int i = 0; i < 100; ++i) deep = {{"type", "Sequence"}, {"pretokenizers", json::array({deep})}};
  EXPECT_NE(refusal(deep).find("levels"), std::string::npos);
}

}  // namespace
}  // namespace megadlm::tokenizers
