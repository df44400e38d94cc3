#include <gtest/gtest.h>

#include <cstring>

#include "data/indexed/indexed_dataset.h"
#include "data/indexed/indexed_writer.h"
#include "support/temporary_folder.h"

namespace megadlm::data {
namespace {

using megadlm::testing::error_of;
using megadlm::testing::read_all;
using megadlm::testing::TemporaryFolder;
using ::testing::Test;

std::string write_pair(const TemporaryFolder& folder, const std::string& name, int64_t vocab_size,
                       const std::vector<std::vector<int32_t>>& documents) {
  IndexedWriter writer(folder.file(name), vocab_size);
  for (const auto& document : documents) writer.add_document(document);
  writer.finish();
  return folder.file(name);
}

void patch(const std::string& path, size_t offset, const std::string& bytes) {
  std::string content = read_all(path);
  content.replace(offset, bytes.size(), bytes);
  std::ofstream(path, std::ios::binary) << content;
}

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

TEST(Indexed, BytesAreThoseOfTheFormat) {
  const TemporaryFolder folder;
  const auto prefix = write_pair(folder, "a", 65500, {{1, 2, 3, 99}, {7, 99}, {5, 6, 7, 8, 99}});
  std::string index = std::string("MMIDIDX\0\0", 9) + raw<uint64_t>(1) + raw<uint8_t>(4) + raw<uint64_t>(3) +
                      raw<uint64_t>(4);
  for (const int32_t length : {4, 2, 5}) index += raw(length);
  for (const int64_t pointer : {0, 16, 24}) index += raw(pointer);
  for (const int64_t bookend : {0, 1, 2, 3}) index += raw(bookend);
  EXPECT_EQ(read_all(prefix + ".idx"), index);
  const std::string bin = read_all(prefix + ".bin");
  ASSERT_EQ(bin.size(), 44u);
  int32_t ids[11];
  std::memcpy(ids, bin.data(), 44);
  EXPECT_EQ(ids[3], 99);
  EXPECT_EQ(ids[5], 99);
  EXPECT_EQ(ids[10], 99);
}

TEST(Indexed, WidthFollowsTheVocabularyAndIdsNeverWrap) {
  for (const int64_t vocab_size : {65499, 65500, 65536, 65537}) {
    const TemporaryFolder folder;
    const auto highest = static_cast<int32_t>(vocab_size - 1);
    const IndexedDataset dataset(write_pair(folder, "a", vocab_size, {{highest, 0}}));
    EXPECT_EQ(dataset.id_type(), vocab_size < 65500 ? IdType::uint16 : IdType::int32);
    int64_t ids[2];
    dataset.read(0, 2, ids);
    EXPECT_EQ(ids[0], highest);
    EXPECT_EQ(ids[1], 0);
    IndexedWriter writer(folder.file("b"), vocab_size);
    EXPECT_NE(error_of([&] { writer.add_document({highest + 1}); }).find(std::to_string(vocab_size)),
              std::string::npos);
    EXPECT_NE(error_of([&] { writer.add_document({-1}); }), "");
  }
}

TEST(Indexed, NothingAppearsBeforeTheEnd) {
  const TemporaryFolder folder;
  {
    IndexedWriter writer(folder.file("a"), 100);
    writer.add_document({1, 2});
    EXPECT_FALSE(std::filesystem::exists(folder.file("a.bin")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Indexed, RefusesFilesThatDoNotBelongTogether) {
  const auto refusal = [](const auto& damage) {
    const TemporaryFolder folder;
    write_pair(folder, "a", 100, {{1, 2, 3}, {4}, {5, 6, 7, 8}});
    write_pair(folder, "other", 100, {{1, 2}});
    damage(folder);
    return error_of([&] { IndexedDataset dataset(folder.file("a")); });
  };
  const auto resize = [](const std::string& path, int64_t by) {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + by);
  };
  EXPECT_EQ(refusal([](const auto&) {}), "");
  EXPECT_NE(refusal([&](const auto& f) {
              resize(f.file("a.bin"), -1);
            }).find("a.bin: has 15 bytes, but its index says 16"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) { resize(f.file("a.idx"), -8); }).find("3 sequences"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) { patch(f.file("a.idx"), 9, raw<uint64_t>(2)); }).find("version 2"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) { patch(f.file("a.idx"), 17, raw<uint8_t>(77)); }).find("type 77"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) { patch(f.file("a.idx"), 0, "X"); }).find("MMIDIDX"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) {
              std::filesystem::rename(f.file("other.idx"), f.file("a.idx"));
            }).find("of another pair"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) { std::filesystem::resize_file(f.file("a.idx"), 0); }).find("0 bytes"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) {
              patch(f.file("a.idx"), 18, raw<uint64_t>(uint64_t{1} << 61));
            }).find("do not fit"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) {
              patch(f.file("a.idx"), 26, raw<uint64_t>(~uint64_t{0}));
            }).find("do not fit"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) { patch(f.file("a.idx"), 34, raw<int32_t>(-5)); }).find("length -5"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) {
              patch(f.file("a.idx"), 34 + 12 + 24 + 8, raw<int64_t>(9));
            }).find("bookend"),
            std::string::npos);
  EXPECT_NE(refusal([&](const auto& f) { std::filesystem::remove(f.file("a.bin")); }).find("a.bin"),
            std::string::npos);
}

TEST(Indexed, AddressesTokensBeyond31Bits) {
  // A sparse file: 3 documents of 2^30 tokens each, of which only the last token is not zero.
  const TemporaryFolder folder;
  constexpr int64_t count = int64_t{1} << 30;
  std::string index = std::string("MMIDIDX\0\0", 9) + raw<uint64_t>(1) + raw<uint8_t>(8) + raw<uint64_t>(3) +
                      raw<uint64_t>(4);
  for (int i = 0; i < 3; ++i) index += raw<int32_t>(count);
  for (int64_t i = 0; i < 3; ++i) index += raw<int64_t>(i * count * 2);
  for (int64_t i = 0; i < 4; ++i) index += raw<int64_t>(i);
  folder.write("big.idx", index);
  folder.write("big.bin", "");
  std::filesystem::resize_file(folder.file("big.bin"), 3 * count * 2 - 2);
  std::ofstream(folder.file("big.bin"), std::ios::binary | std::ios::app) << raw<uint16_t>(1234);
  const IndexedDataset dataset(folder.file("big"));
  EXPECT_EQ(dataset.num_tokens(), 3 * count);
  int64_t ids[2];
  dataset.read(3 * count - 2, 2, ids);
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[1], 1234);
  EXPECT_NE(error_of([&] { dataset.read(3 * count - 1, 2, ids); }), "");
}

}  // namespace
}  // namespace megadlm::data
