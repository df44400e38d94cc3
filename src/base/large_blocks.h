#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>

namespace megadlm::base {

/// Hands out large blocks of memory from one reserved range of addresses, and keeps the pages of freed ones:
/// a sequence of requests that repeats, as a training step's does, meets no page faults. The first gap that
/// is large enough is taken; freed neighbours merge. Pages are huge where the kernel allows. Safe to use from
/// any thread.
class LargeBlocks {
 public:
  static constexpr size_t kGranule = size_t{64} << 10;  ///< sizes are rounded up to multiples of it

  /// Reserves addresses; memory is taken when it is first written. An Error says that the system refused.
  explicit LargeBlocks(size_t reserved_bytes);
  LargeBlocks(const LargeBlocks&) = delete;
  LargeBlocks& operator=(const LargeBlocks&) = delete;
  ~LargeBlocks();

  /// A block aligned to 64 KiB; null where no gap is large enough.
  void* allocate(size_t bytes);
  bool contains(const void* pointer) const { return pointer >= base_ && pointer < base_ + reserved_; }
  /// Takes back what `allocate` gave.
  void release(void* block);

 private:
  char* base_;
  size_t reserved_;
  std::mutex mutex_;
  std::map<size_t, size_t> gaps_;            ///< offset → bytes
  std::unordered_map<size_t, size_t> used_;  ///< offset → bytes
};

}  // namespace megadlm::base
