#include "base/large_blocks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/error.h"
#include "base/philox.h"

namespace megadlm::base {
namespace {

constexpr size_t kGranule = LargeBlocks::kGranule;

TEST(LargeBlocks, ReusesAndMergesWhatIsFreed) {
  LargeBlocks blocks(4 * kGranule);
  void* first = blocks.allocate(kGranule);
  void* second = blocks.allocate(1);
  void* third = blocks.allocate(2 * kGranule);
  EXPECT_EQ(blocks.allocate(1), nullptr);
  blocks.release(second);
  EXPECT_EQ(blocks.allocate(kGranule), second);
  blocks.release(first);
  blocks.release(third);
  blocks.release(second);  // between two gaps
  EXPECT_EQ(blocks.allocate(4 * kGranule), first);
}

TEST(LargeBlocks, BlocksNeverOverlap) {
  LargeBlocks blocks(256 * kGranule);
  const Random random(1, RandomStream::test);
  std::map<char*, size_t> held;
  for (uint64_t i = 0; i < 5000; ++i) {
    if (!held.empty() && random.below(2, i, 0) == 0) {
      const auto victim = std::next(held.begin(), static_cast<int64_t>(random.below(held.size(), i, 1)));
      const auto [block, size] = *victim;
      EXPECT_EQ(block[0], block[size - 1]);
      EXPECT_EQ(block[0], static_cast<char>(size));
      held.erase(victim);
      blocks.release(block);
    } else {
      const size_t size = 1 + random.below(20 * kGranule, i, 2);
      auto* block = static_cast<char*>(blocks.allocate(size));
      if (block == nullptr) continue;
      block[0] = block[size - 1] = static_cast<char>(size);
      held.emplace(block, size);
    }
  }
  const char* end = nullptr;
  for (const auto& [block, size] : held) {
    EXPECT_GE(block, end);
    end = block + size;
  }
}

TEST(LargeBlocks, RefusesTooMuchAndForeignBlocks) {
  LargeBlocks blocks(2 * kGranule);
  EXPECT_EQ(blocks.allocate(3 * kGranule), nullptr);
  EXPECT_EQ(blocks.allocate(SIZE_MAX), nullptr);
  auto* block = static_cast<char*>(blocks.allocate(1));
  EXPECT_THROW(blocks.release(block + 1), Error);
  EXPECT_THROW(LargeBlocks(size_t{1} << 62), Error);
}

}  // namespace
}  // namespace megadlm::base
