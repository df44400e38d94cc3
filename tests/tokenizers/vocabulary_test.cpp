#include "tokenizers/vocabulary.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "tokenizers/training/bpe_trainer.h"

namespace megadlm::tokenizers {
namespace {

using megadlm::testing::error_of;
using megadlm::testing::TemporaryFolder;

config::TokenizerOptions null_options(int64_t vocab_size) {
  config::TokenizerOptions options;
  options.tokenizer_type = config::TokenizerType::null;
  options.vocab_size = vocab_size;
  return options;
}

TEST(NullTokenizer, ReadsAndWritesNumbers) {
  const auto tokenizer = load_tokenizer(null_options(100));
  EXPECT_EQ(tokenizer->vocab_size(), 101);
  EXPECT_EQ(tokenizer->encode(" 5 99\t100\n"), (std::vector<int32_t>{5, 99, 100}));
  EXPECT_EQ(tokenizer->decode({5, 99, 100}, true), "5 99");
  for (const char* bad : {"101", "-1", "x", "5x", "99999999999999"}) {
    EXPECT_NE(error_of([&] { tokenizer->encode(bad); }).find(bad), std::string::npos);
  }
  EXPECT_NE(error_of([] { load_tokenizer(null_options(0)); }).find("--vocab-size"), std::string::npos);
}

TEST(Vocabulary, AddsAMaskTokenAndPads) {
  auto options = null_options(100);
  options.make_vocab_size_divisible_by = 64;
  const auto plain = make_vocabulary(load_tokenizer(options), options, false);
  EXPECT_EQ(plain.vocab_size, 101);
  EXPECT_EQ(plain.padded_vocab_size, 128);
  EXPECT_EQ(plain.eod_token, 100);
  EXPECT_FALSE(plain.mask_token.has_value());
  const auto masked = make_vocabulary(load_tokenizer(options), options, true);
  EXPECT_EQ(masked.mask_token, 101);
  EXPECT_TRUE(masked.mask_added);
  EXPECT_EQ(masked.vocab_size, 102);
}

TEST(Vocabulary, TakesTheTokenizersOwnMaskOrTheOneNamed) {
  const TemporaryFolder folder;
  BpeTrainingOptions training;
  training.vocab_size = 260;
  BpeTrainer trainer(training);
  trainer.add("hello hello");
  folder.write("tokenizer.json", trainer.train());
  config::TokenizerOptions options;
  options.tokenizer_model = folder.path().string();
  const auto own = make_vocabulary(load_tokenizer(options), options, true);
  EXPECT_EQ(own.mask_token, 1);
  EXPECT_FALSE(own.mask_added);
  EXPECT_EQ(own.eod_token, 0);
  options.mask_token = "<|endoftext|>";
  EXPECT_EQ(make_vocabulary(load_tokenizer(options), options, true).mask_token, 0);
  options.mask_token = "<nothing>";
  EXPECT_NE(error_of([&] { make_vocabulary(load_tokenizer(options), options, true); }).find("<nothing>"),
            std::string::npos);
  options.vocab_size = 999;
  EXPECT_NE(error_of([&] { load_tokenizer(options); }).find("999"), std::string::npos);
  folder.write("tokenizer.json", load_tokenizer(null_options(7))->to_json());
  options.vocab_size = 0;
  EXPECT_EQ(load_tokenizer(options)->vocab_size(), 8);
  folder.write("tokenizer.json", R"({"type": "NullTokenizer", "vocab_size": -4})");
  EXPECT_NE(error_of([&] { load_tokenizer(options); }).find("-4"), std::string::npos);
}

TEST(Vocabulary, SpecialTokensAreThoseOfTheTokenizersConfiguration) {
  const TemporaryFolder folder;
  BpeTrainingOptions training;
  training.vocab_size = 260;
  training.special_tokens = {"<|endoftext|>", "<stop>", "<|hole|>"};
  BpeTrainer trainer(training);
  trainer.add("hello hello");
  folder.write("tokenizer.json", trainer.train());
  folder.write("tokenizer_config.json", R"({"eos_token": "<stop>", "mask_token": {"content": "<|hole|>"}})");
  config::TokenizerOptions options;
  options.tokenizer_model = folder.file("tokenizer.json");
  const auto vocabulary = make_vocabulary(load_tokenizer(options), options, true);
  EXPECT_EQ(vocabulary.eod_token, 1);
  EXPECT_EQ(vocabulary.mask_token, 2);
  EXPECT_FALSE(vocabulary.mask_added);
  folder.write("tokenizer_config.json", R"({"eos_token": "<gone>"})");
  EXPECT_EQ(make_vocabulary(load_tokenizer(options), options, true).eod_token, 0);
  folder.write("tokenizer_config.json", "{");
  EXPECT_NE(error_of([&] { load_tokenizer(options); }).find("tokenizer_config.json"), std::string::npos);
}

TEST(Vocabulary, NamesAMissingFile) {
  config::TokenizerOptions options;
  EXPECT_NE(error_of([&] { load_tokenizer(options); }).find("--tokenizer-model"), std::string::npos);
  options.tokenizer_model = "/nowhere/at/all.json";
  EXPECT_NE(error_of([&] { load_tokenizer(options); }).find("/nowhere/at/all.json"), std::string::npos);
}

}  // namespace
}  // namespace megadlm::tokenizers
