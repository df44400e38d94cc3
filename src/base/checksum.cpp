#include "base/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

#include "base/file.h"

namespace megadlm::base {

Checksum::Checksum() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state_);
}

Checksum::~Checksum() { XXH3_freeState(state_); }

void Checksum::update(const void* data, uint64_t size) { XXH3_64bits_update(state_, data, size); }

uint64_t Checksum::value() const { return XXH3_64bits_digest(state_); }

std::string Checksum::hex() const { return fmt::format("{:016x}", value()); }

std::string file_checksum(const std::filesystem::path& path) {
  const MappedFile file(path);
  Checksum checksum;
  checksum.update(file.data(), file.size());
  return checksum.hex();
}

}  // namespace megadlm::base
