#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

struct XXH3_state_s;

namespace megadlm::base {

/// XXH3 with 64 bits, over data that arrives in pieces.
class Checksum {
 public:
  Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  ~Checksum();

  void update(const void* data, uint64_t size);
  uint64_t value() const;
  /// Sixteen hexadecimal digits.
  std::string hex() const;

 private:
  XXH3_state_s* state_;
};

/// The checksum of a file's content.
std::string file_checksum(const std::filesystem::path& path);

}  // namespace megadlm::base
