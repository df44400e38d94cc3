#include "ops/allocator/allocator.h"

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <new>

#include "base/error.h"
#include "base/large_blocks.h"
#include "base/log.h"
#include "base/machine.h"

namespace megadlm::ops {
namespace {

constexpr size_t kLarge = size_t{1} << 20;

/// They live as long as the process: tensors may be freed at its very end.
base::LargeBlocks* blocks = nullptr;
c10::Allocator* small = nullptr;

void release(void* pointer) {
  if (blocks->contains(pointer)) {
    blocks->release(pointer);
  } else {
    small->raw_deallocate(pointer);
  }
}

class LargeBlocksAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* block = bytes < kLarge ? nullptr : blocks->allocate(bytes);
    // malloc serves small requests, and reports in its own words that memory is short.
    if (block == nullptr) block = small->raw_allocate(bytes);
    return {block, block, release, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return release; }

  void copy_data(void* target, const void* source, size_t bytes) const override {
    std::memcpy(target, source, bytes);
  }
};

}  // namespace

void use_large_blocks() {
  if (blocks != nullptr) return;
  try {
    blocks = new base::LargeBlocks(2 * base::machine_memory_bytes());
  } catch (const base::Error& error) {
    base::warn_once(fmt::format("{}; large tensors come from malloc", error.what()));
    return;
  }
  small = c10::GetDefaultCPUAllocator();
  c10::SetCPUAllocator(new LargeBlocksAllocator, 1);
}

}  // namespace megadlm::ops
