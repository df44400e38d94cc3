#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace megadlm::base {

/// The whole content of a file. Errors name the path and the reason.
std::string read_file(const std::filesystem::path& path);

/// A file opened for reading through mmap; empty files are valid and have size 0.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return size_; }
  const std::byte* data() const { return data_; }
  /// `count` bytes from `offset`; an Error that names the file when they are not all inside it.
  std::span<const std::byte> bytes(uint64_t offset, uint64_t count) const;
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

/// A file that appears whole or not at all: written to `<path>.tmp-<pid>`, synced and renamed by
/// `commit()`; removed by the destructor otherwise. Every failed write is an Error that names the path.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, uint64_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Overwrites bytes already written.
  void write_at(uint64_t offset, const void* data, uint64_t size);
  uint64_t size() const { return size_; }
  void commit();

 private:
  void flush();

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  std::string buffer_;
};

/// Writes a whole file through an AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Makes a rename or a new entry in `folder` durable.
void sync_folder(const std::filesystem::path& folder);

}  // namespace megadlm::base
