#include "base/large_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/error.h"

namespace megadlm::base {

LargeBlocks::LargeBlocks(size_t reserved_bytes) : reserved_(reserved_bytes / kGranule * kGranule) {
  void* range =
      ::mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(range != MAP_FAILED, "the system refuses {} bytes of addresses: {}", reserved_,
          std::strerror(errno));
  base_ = static_cast<char*>(range);
  ::madvise(range, reserved_, MADV_HUGEPAGE);  // a wish: without huge pages it works too
  gaps_.emplace(0, reserved_);
}

LargeBlocks::~LargeBlocks() { ::munmap(base_, reserved_); }

void* LargeBlocks::allocate(size_t bytes) {
  if (bytes > reserved_) return nullptr;
  const size_t size = std::max((bytes + kGranule - 1) / kGranule, size_t{1}) * kGranule;
  const std::lock_guard lock(mutex_);
  const auto gap =
      std::find_if(gaps_.begin(), gaps_.end(), [&](const auto& entry) { return entry.second >= size; });
  if (gap == gaps_.end()) return nullptr;
  const auto [offset, room] = *gap;
  gaps_.erase(gap);
  if (room > size) gaps_.emplace(offset + size, room - size);
  used_.emplace(offset, size);
  return base_ + offset;
}

void LargeBlocks::release(void* block) {
  const std::lock_guard lock(mutex_);
  const auto used = used_.find(static_cast<size_t>(static_cast<char*>(block) - base_));
  require(used != used_.end(), "a block is released that was not allocated");
  auto [offset, size] = *used;
  used_.erase(used);
  auto after = gaps_.lower_bound(offset);
  if (after != gaps_.end() && after->first == offset + size) {
    size += after->second;
    after = gaps_.erase(after);
  }
  if (after != gaps_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  gaps_.emplace(offset, size);
}

}  // namespace megadlm::base
