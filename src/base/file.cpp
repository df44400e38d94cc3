#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace megadlm::base {
namespace {

constexpr size_t kBufferSize = size_t{1} << 20;

[[noreturn]] void fail_system(const std::filesystem::path& path, const char* doing) {
  fail("{}: {}: {}", path.string(), doing, std::strerror(errno));
}

void write_all(int descriptor, const char* data, uint64_t size, const std::filesystem::path& path) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system(path, "cannot write");
    data += written;
    size -= static_cast<uint64_t>(written);
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  return std::string(file.text());
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_system(path, "cannot open");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) errno = EISDIR;
    const int error = errno;
    ::close(descriptor);
    errno = error;
    fail_system(path, "cannot read");
  }
  size_ = static_cast<uint64_t>(status.st_size);
  if (size_ > 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) {
      const int error = errno;
      ::close(descriptor);
      errno = error;
      fail_system(path, "cannot map into memory");
    }
    data_ = static_cast<const std::byte*>(mapped);
  }
  ::close(descriptor);
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::span<const std::byte> MappedFile::bytes(uint64_t offset, uint64_t count) const {
  if (offset > size_ || count > size_ - offset) {
    fail("{}: needs {} bytes at offset {}, but the file has only {} bytes", path_.string(), count, offset,
         size_);
  }
  return {data_ + offset, count};
}

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : path_(path), temporary_(path.string() + ".tmp-" + std::to_string(::getpid())) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail_system(path_, "cannot create");
  buffer_.reserve(kBufferSize);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, uint64_t size) {
  size_ += size;
  if (buffer_.size() + size <= kBufferSize) {
    buffer_.append(static_cast<const char*>(data), size);
    return;
  }
  flush();
  write_all(descriptor_, static_cast<const char*>(data), size, path_);
}

void AtomicFile::write_at(uint64_t offset, const void* data, uint64_t size) {
  require(offset <= size_ && size <= size_ - offset,
          "{}: write at {} of {} bytes is outside the {} bytes written", path_.string(), offset, size, size_);
  flush();
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::pwrite(descriptor_, bytes, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_system(path_, "cannot write");
    bytes += written;
    offset += static_cast<uint64_t>(written);
    size -= static_cast<uint64_t>(written);
  }
}

void AtomicFile::flush() {
  write_all(descriptor_, buffer_.data(), buffer_.size(), path_);
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail_system(path_, "cannot sync");
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    ::unlink(temporary_.c_str());
    fail_system(path_, "cannot close");
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    fail_system(path_, "cannot rename into place");
  }
  sync_folder(path_.parent_path());
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void sync_folder(const std::filesystem::path& folder) {
  const auto path = folder.empty() ? std::filesystem::path(".") : folder;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_system(path, "cannot open");
  const int result = ::fsync(descriptor);
  ::close(descriptor);
  // Some file systems cannot sync a folder and say so; the rename itself has succeeded.
  if (result != 0 && errno != EINVAL) fail_system(path, "cannot sync");
}

}  // namespace megadlm::base
