#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"

namespace megadlm::checkpoint {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// Writes a safetensors file (https://huggingface.co/docs/safetensors): whole or not at all.
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// A safetensors file, mapped. Opening checks everything that its header says against the file: lengths,
/// JSON, ranges without hole or overlap, bytes = shape x width. Errors name the file and the tensor.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  struct Entry {
    at::ScalarType type{};
    std::vector<int64_t> shape;
    uint64_t begin = 0, end = 0;  ///< bytes in the data part
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// A copy of a tensor; an Error when there is none of that name.
  at::Tensor tensor(const std::string& name) const;
  /// All of them, by name.
  std::vector<NamedTensor> tensors() const;

 private:
  void read_entries(std::string_view header);
  void check_ranges() const;

  base::MappedFile file_;
  uint64_t data_begin_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace megadlm::checkpoint
