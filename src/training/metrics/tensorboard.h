#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace megadlm::training {

/// Scalars as a TensorBoard event file: TFRecord frames (length, masked CRC-32C, data, masked CRC-32C) of
/// protocol-buffer Events (tensorflow/core/util/event.proto).
class TensorboardWriter {
 public:
  explicit TensorboardWriter(const std::string& folder);

  void scalar(const std::string& tag, int64_t step, float value);
  void flush();

 private:
  void record(const std::string& event);

  std::string path_;
  std::ofstream file_;
};

}  // namespace megadlm::training
