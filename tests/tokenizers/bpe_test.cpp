#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/philox.h"
#include "support/temporary_folder.h"
#include "tokenizers/bpe/bpe_tokenizer.h"
#include "tokenizers/training/bpe_trainer.h"
#include "tokenizers/unicode.h"

namespace megadlm::tokenizers {
namespace {

using megadlm::testing::error_of;
using nlohmann::json;
using Ids = std::vector<int32_t>;

json byte_level() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
}

/// A tokenizer.json with ids in the order of `pieces`.
json file_of(const std::vector<std::string>& pieces, const json& merges, bool with_byte_level) {
  json vocabulary = json::object();
  for (size_t i = 0; i < pieces.size(); ++i) vocabulary[pieces[i]] = i;
  json file = {
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}, {"unk_token", nullptr}}}};
  if (with_byte_level) file["pre_tokenizer"] = file["decoder"] = byte_level();
  return file;
}

TEST(Bpe, IgnoreMergesTakesWholePiecesFirst) {
  json file = file_of({"a", "b", "c", "bc", "abc", "ab"}, json::array({"b c", "a b"}), true);
  EXPECT_EQ(BpeTokenizer(file.dump(), "f").encode("abc"), (Ids{0, 3}));
  file["model"]["ignore_merges"] = true;
  const BpeTokenizer tokenizer(file.dump(), "f");
  EXPECT_EQ(tokenizer.encode("abc"), (Ids{4}));
  EXPECT_EQ(tokenizer.encode("abca"), (Ids{0, 3, 0}));
}

TEST(Bpe, MergesMayBePairsWithSpaces) {
  const json file = file_of({"a", "b", " ", "a ", "a b"},
                            json::array({json::array({"a", " "}), json::array({"a ", "b"})}), false);
  EXPECT_EQ(BpeTokenizer(file.dump(), "f").encode("a b"), (Ids{4}));
}

TEST(Bpe, LongRunsAreMergedCompletely) {
  const BpeTokenizer tokenizer(file_of({"a", "aa", "aaaa"}, json::array({"a a", "aa aa"}), false).dump(),
                               "f");
  for (const size_t count : {50'000u, 100'000u, 400'000u}) {
    EXPECT_EQ(tokenizer.encode(std::string(count, 'a')), Ids(count / 4, 2));
  }
  EXPECT_EQ(tokenizer.encode(std::string(7, 'a')), (Ids{2, 1, 0}));
}

std::string trained(const std::string& text, int64_t vocab_size) {
  BpeTrainingOptions options;
  options.vocab_size = vocab_size;
  BpeTrainer trainer(options);
  trainer.add(text);
  return trainer.train();
}

TEST(Bpe, AMillionEqualCharactersDoNoHarm) {
  const BpeTokenizer tokenizer(trained("^^^^ ab ab ab", 262), "f");
  const std::string run(1'000'000, '^');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(run)), run);
}

TEST(Bpe, ManyThreadsEncodeAlike) {
  const BpeTokenizer tokenizer(trained("abracadabra abracadabra banana bandana banana abba", 280), "f");
  std::vector<std::string> texts;
  const base::Random random(3, base::RandomStream::test);
  for (uint64_t i = 0; i < 50; ++i) {
    texts.emplace_back();
    for (uint64_t k = 0; k < 400; ++k) texts.back() += "abrcdn "[random.below(7, i, k)];
  }
  std::vector<Ids> expected;
  for (const std::string& text : texts) expected.push_back(tokenizer.encode(text));
  std::array<std::vector<Ids>, 4> results;
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (const std::string& text : texts) result.push_back(tokenizer.encode(text));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST(Bpe, DecodingGivesTheBytesBack) {
  const BpeTokenizer tokenizer(trained("The quick brown fox. Über Straße 12 34", 300), "f");
  const base::Random random(2, base::RandomStream::test);
  for (uint64_t i = 0; i < 500; ++i) {
    std::string text;
    for (uint64_t k = 0; k < 30; ++k) {
      const uint64_t bound = random.below(3, i, 100 + k) == 0 ? 0x110000 : 0x300;
      auto point = static_cast<uint32_t>(random.below(bound, i, k));
      if (point >= 0xD800 && point < 0xE000) point -= 0x800;  // surrogates are no characters
      append_utf8(text, point);
    }
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(Bpe, AddedTokensAreCutOutFirst) {
  json file = json::parse(trained("hello world hello world", 260));
  file["added_tokens"].push_back(
      {{"id", 260}, {"content", "<x>"}, {"lstrip", true}, {"rstrip", true}, {"special", false}});
  file["added_tokens"].push_back(
      {{"id", 261}, {"content", "cat"}, {"single_word", true}, {"special", false}});
  const BpeTokenizer tokenizer(file.dump(), "f");
  EXPECT_EQ(tokenizer.encode("<|endoftext|><|mask|>"), (Ids{0, 1}));
  EXPECT_EQ(tokenizer.encode("<|mask|>  <x>\n<|mask|>"), (Ids{1, 260, 1}));
  EXPECT_EQ(tokenizer.encode("cat"), (Ids{261}));
  EXPECT_NE(tokenizer.encode("cats"), (Ids{261}));
  EXPECT_EQ(tokenizer.decode({1, 260}, false), "<|mask|><x>");
  EXPECT_EQ(tokenizer.decode({1, 260}, true), "<x>");
  EXPECT_EQ(tokenizer.id_of("<|mask|>"), 1);
  EXPECT_EQ(tokenizer.vocab_size(), 262);
}

// Measured with the reference library: an id that leaves a gap is not kept, and the model's own id wins.
TEST(Bpe, AddedTokensGetTheNextFreeId) {
  json file = file_of({"a", "b"}, json::array(), false);
  file["added_tokens"] = json::array({{{"id", 40}, {"content", "<x>"}}, {{"id", 41}, {"content", "b"}}});
  const BpeTokenizer tokenizer(file.dump(), "f");
  EXPECT_EQ(tokenizer.encode("a<x>b"), (Ids{0, 2, 1}));
  EXPECT_EQ(tokenizer.vocab_size(), 3);
}

// Measured with the reference library: tokens that are not normalized are looked for first, in all the text.
TEST(Bpe, NormalizedTokensComeSecondAndAreNormalized) {
  json file = file_of({"a", "b", "c"}, json::array(), false);
  file["normalizer"] = {{"type", "Lowercase"}};
  file["added_tokens"] = json::array({{{"id", 3}, {"content", "AB"}, {"normalized", true}},
                                      {{"id", 4}, {"content", "bC"}, {"normalized", false}}});
  const BpeTokenizer tokenizer(file.dump(), "f");
  EXPECT_EQ(tokenizer.encode("abC"), (Ids{0, 4}));
  EXPECT_EQ(tokenizer.encode("aBc"), (Ids{3, 2}));
}

TEST(Bpe, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](const auto& change) {
    json file = json::parse(trained("hello", 260));
    change(file);
    return error_of([&] { BpeTokenizer tokenizer(file.dump(), "some.json"); });
  };
  EXPECT_EQ(refusal([](json&) {}), "");
  EXPECT_NE(refusal([](json& f) { f["model"]["type"] = "Unigram"; }).find("Unigram"), std::string::npos);
  EXPECT_NE(refusal([](json& f) {
              f["normalizer"] = {{"type", "Replace"}};
            }).find("Replace"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) {
              f["pre_tokenizer"] = {{"type", "Metaspace"}};
            }).find("Metaspace"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) {
              f["decoder"] = {{"type", "WordPiece"}};
            }).find("WordPiece"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["model"]["byte_fallback"] = true; }).find("byte_fallback"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["model"]["merges"].push_back("zz yy"); }).find("'zz'"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["model"]["merges"].push_back("a b c"); }).find("a b c"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["model"]["vocab"]["a"] = -3; }).find("-3"), std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["model"].erase("vocab"); }).find("vocab"), std::string::npos);
  EXPECT_NE(refusal([](json& f) { f = json::array(); }).find("model"), std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["model"]["type"] = 5; }).find("some.json: model type 5"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["added_tokens"][0].erase("content"); }).find("content"),
            std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["added_tokens"][0]["id"] = 1e15; }).find("1e+15"), std::string::npos);
  EXPECT_NE(refusal([](json& f) { f["model"]["unk_token"] = "zz"; }).find("zz"), std::string::npos);
  EXPECT_NE(error_of([] { BpeTokenizer tokenizer("{\"model\": ", "some.json"); }).find("some.json"),
            std::string::npos);
}

TEST(Bpe, WritesItsFileAsItWas) {
  const std::string text = trained("hello hello", 262);
  EXPECT_EQ(BpeTokenizer(text, "f").to_json(), text);
}

TEST(Bpe, UnknownCharacters) {
  json file = file_of({"?", "a", "??"}, json::array({"? ?"}), false);
  EXPECT_EQ(BpeTokenizer(file.dump(), "f").encode("axya"), (Ids{1, 1}));  // left out, with a warning
  file["model"]["unk_token"] = "?";
  EXPECT_EQ(BpeTokenizer(file.dump(), "f").encode("axya"), (Ids{1, 2, 1}));
  file["model"]["fuse_unk"] = true;
  EXPECT_EQ(BpeTokenizer(file.dump(), "f").encode("axya"), (Ids{1, 0, 1}));
}

TEST(Bpe, InvalidTextAndIdsAreErrors) {
  const BpeTokenizer tokenizer(trained("hello", 260), "f");
  EXPECT_NE(error_of([&] { tokenizer.encode("ok \xFF"); }).find("byte 3"), std::string::npos);
  EXPECT_NE(error_of([&] { tokenizer.encode("\xED\xA0\x80"); }), "");
  EXPECT_NE(error_of([&] { tokenizer.decode({999}); }).find("999"), std::string::npos);
  EXPECT_EQ(tokenizer.encode(""), Ids{});
}

TEST(BpeTrainer, LearnsTheMostFrequentPairFirst) {
  const json file = json::parse(trained("aab aab aab ab", 260));
  EXPECT_EQ(file["model"]["merges"][0], json::array({"a", "b"}));
  EXPECT_EQ(file["added_tokens"][1]["content"], "<|mask|>");
  EXPECT_EQ(file["model"]["vocab"].size(), 260u);
  EXPECT_NE(error_of([] { trained("a", 100); }).find("258"), std::string::npos);
  EXPECT_NE(error_of([] { trained("", 300); }).find("empty"), std::string::npos);
}

}  // namespace
}  // namespace megadlm::tokenizers
