#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "data/indexed/indexed_writer.h"
#include "data/samples/gpt_dataset.h"
#include "data/samples/mock.h"
#include "data/samples/sequential.h"
#include "data/samples/split.h"
#include "support/temporary_folder.h"

namespace megadlm::data {
namespace {

using megadlm::testing::error_of;
using megadlm::testing::read_all;
using megadlm::testing::TemporaryFolder;

constexpr int64_t kVocabulary = 60000;

/// Documents of pseudo-random lengths whose tokens count up over the whole file.
std::shared_ptr<const IndexedDataset> counting_dataset(const TemporaryFolder& folder, int64_t documents,
                                                       uint64_t seed) {
  const base::Random random(seed, base::RandomStream::test);
  IndexedWriter writer(folder.file("data"), kVocabulary);
  int32_t token = 0;
  for (int64_t i = 0; i < documents; ++i) {
    std::vector<int32_t> ids(random.below(40, 0, i) + 1);
    for (int32_t& id : ids) id = token++;
    writer.add_document(ids);
  }
  writer.finish();
  return std::make_shared<const IndexedDataset>(folder.file("data"));
}

SampleShape shape_of(const IndexedDataset& dataset, int64_t seq_length, int64_t extra_tokens) {
  SampleShape shape;
  shape.documents = {0, dataset.num_documents()};
  shape.seq_length = seq_length;
  shape.extra_tokens = extra_tokens;
  shape.seed = 7;
  return shape;
}

RowOptions plain() {
  RowOptions options;
  options.vocab_size = kVocabulary;
  return options;
}

std::vector<int64_t> numbers(int64_t begin, int64_t end) {
  std::vector<int64_t> samples(end - begin);
  std::iota(samples.begin(), samples.end(), begin);
  return samples;
}

TEST(GptDataset, EachEpochGivesEachTokenOnce) {
  for (const int64_t extra : {0, 1}) {
    const TemporaryFolder folder;
    const auto dataset = counting_dataset(folder, 100, 3);
    const GptDataset samples(dataset, shape_of(*dataset, 16, extra), plain(), folder.file("cache"));
    const int64_t rows = samples.samples_per_epoch();
    EXPECT_EQ(rows, (dataset->num_tokens() - extra) / 16);
    std::vector<at::Tensor> epochs;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      const at::Tensor tokens = samples.rows(numbers(epoch * rows, (epoch + 1) * rows), 0).tokens;
      std::map<int64_t, int> seen;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t k = 0; k < 16; ++k) ++seen[tokens[i][k].item<int64_t>()];
      }
      EXPECT_EQ(static_cast<int64_t>(seen.size()), rows * 16);
      epochs.push_back(tokens);
    }
    EXPECT_FALSE(epochs[0].equal(epochs[1]));
  }
}

TEST(GptDataset, ARowDependsOnItsNumberAlone) {
  const TemporaryFolder folder;
  const auto dataset = counting_dataset(folder, 60, 5);
  const GptDataset samples(dataset, shape_of(*dataset, 8, 1), plain(), folder.file("cache"));
  const int64_t rows = samples.samples_per_epoch();
  const at::Tensor together = samples.rows(numbers(rows - 3, rows + 5), 0).tokens;
  for (int64_t i = 0; i < 8; ++i) EXPECT_TRUE(samples.rows({rows - 3 + i}, 9).tokens[0].equal(together[i]));
  const GptDataset again(dataset, shape_of(*dataset, 8, 1), plain(), folder.file("cache"));
  EXPECT_TRUE(again.rows(numbers(rows - 3, rows + 5), 0).tokens.equal(together));
}

TEST(GptDataset, RowsOverlapByTheExtraToken) {
  const TemporaryFolder folder;
  const auto dataset = counting_dataset(folder, 1, 1);
  auto shape = shape_of(*dataset, 2, 1);
  shape.shuffle = false;
  const GptDataset samples(dataset, shape, plain(), folder.file("cache"));
  const at::Tensor tokens = samples.rows({0, 1}, 0).tokens;
  EXPECT_EQ(tokens[0][2].item<int64_t>(), tokens[1][0].item<int64_t>());
}

TEST(GptDataset, ACacheIsUsedAndADamagedOneRebuilt) {
  const TemporaryFolder folder;
  const auto dataset = counting_dataset(folder, 50, 2);
  const auto shape = shape_of(*dataset, 8, 0);
  const EpochIndex built = build_epoch_index(*dataset, shape, 1);
  EXPECT_EQ(cached_epoch_index(*dataset, shape, 1, folder.file("cache")), built);
  std::string cache;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("cache")))
    cache = entry.path().string();
  ASSERT_NE(cache, "");
  EXPECT_EQ(cached_epoch_index(*dataset, shape, 1, folder.file("cache")), built);
  std::string content = read_all(cache);
  content[40] ^= 1;
  std::ofstream(cache, std::ios::binary) << content;
  EXPECT_EQ(cached_epoch_index(*dataset, shape, 1, folder.file("cache")), built);
  std::filesystem::resize_file(cache, 5);
  EXPECT_EQ(cached_epoch_index(*dataset, shape, 1, folder.file("cache")), built);
  auto other = shape;
  other.seed = 8;
  EXPECT_FALSE(cached_epoch_index(*dataset, other, 1, folder.file("cache")) == built);
}

TEST(GptDataset, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto dataset = counting_dataset(folder, 3, 2);
  const std::string small = error_of([&] { GptDataset(dataset, shape_of(*dataset, 4096, 0), plain(), ""); });
  EXPECT_NE(small.find("--seq-length 4096"), std::string::npos) << small;
  auto options = plain();
  options.vocab_size = 5;
  const GptDataset samples(dataset, shape_of(*dataset, 8, 0), options, folder.file("cache"));
  EXPECT_NE(error_of([&] { samples.rows({0, 1}, 0); }).find("vocabulary has 5 ids"), std::string::npos);
}

TEST(Rows, DocumentsResetPositionsSegmentsAndLoss) {
  RowBatch rows;
  rows.tokens = at::tensor({4, 9, 5, 6, 9, 9, 7, 1}, at::kLong).view({1, 8});
  RowOptions options;
  options.vocab_size = 10;
  options.eod_token = 9;
  options.reset_position_ids = options.reset_attention_mask = options.eod_mask_loss = true;
  complete_rows(rows, 7, options, "here");
  EXPECT_TRUE(rows.positions.equal(at::tensor({0, 1, 0, 1, 2, 0, 0}, at::kLong).view({1, 7})))
      << rows.positions;
  EXPECT_TRUE(rows.segments.equal(at::tensor({0, 0, 1, 1, 1, 2, 3}, at::kLong).view({1, 7})))
      << rows.segments;
  EXPECT_TRUE(rows.loss_mask.equal(at::tensor({1., 0., 1., 1., 0., 0., 1.}).to(at::kFloat).view({1, 7})));
}

TEST(SequentialRows, GiveEveryTokenOnceWithAShortLastRow) {
  for (const int64_t extra : {0, 1}) {
    const TemporaryFolder folder;
    const auto dataset = counting_dataset(folder, 20, 4);
    for (const int64_t batch_size : {1, 3}) {
      const RowReader next = sequential_rows(dataset, shape_of(*dataset, 16, extra), plain(), batch_size, 0);
      int64_t expected = 0, row = 0;
      while (const auto rows = next()) {
        for (int64_t i = 0; i < rows->tokens.size(0); ++i, ++row) {
          EXPECT_EQ(rows->sample[i], row);
          const int64_t scored = rows->tokens.size(1) - extra;
          for (int64_t k = 0; k < scored; ++k) EXPECT_EQ(rows->tokens[i][k].item<int64_t>(), expected++);
        }
      }
      EXPECT_EQ(expected, dataset->num_tokens() - extra);
    }
    const RowReader limited = sequential_rows(dataset, shape_of(*dataset, 16, extra), plain(), 3, 4);
    int64_t rows = 0;
    while (const auto batch = limited()) rows += batch->tokens.size(0);
    EXPECT_EQ(rows, 4);
  }
}

TEST(Split, FollowsTheSharesInOrder) {
  const Split split = split_documents("969,30,1", 1000);
  EXPECT_EQ(split.training.end, 969);
  EXPECT_EQ(split.validation.begin, 969);
  EXPECT_EQ(split.validation.end, 999);
  EXPECT_EQ(split.test.end, 1000);
  EXPECT_EQ(split_documents("1", 7).training.end, 7);
  EXPECT_EQ(split_documents("0.5,0.5", 7).validation.end, 7);
  for (const char* bad : {"", "a,b", "1,2,3,4", "-1,2", "0,0,0", "1,,2", "nan"}) {
    EXPECT_NE(error_of([&] { split_documents(bad, 10); }).find("--split"), std::string::npos) << bad;
  }
}

TEST(MockDataset, IsKeyedBySample) {
  const MockDataset dataset(100, 32, 1, 3);
  const at::Tensor tokens = dataset.rows({5, 6}, 0).tokens;
  EXPECT_EQ(tokens.size(1), 33);
  EXPECT_TRUE(dataset.rows({6}, 1).tokens[0].equal(tokens[1]));
  EXPECT_LT(tokens.max().item<int64_t>(), 100);
}

}  // namespace
}  // namespace megadlm::data
