#include "training/metrics/tensorboard.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace megadlm::training {
namespace {

/// CRC-32C (Castagnoli), reflected.
constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82F63B78u : 0u);
    table[i] = value;
  }
  return table;
}

uint32_t masked_crc(const std::string& data) {
  static constexpr auto table = crc_table();
  uint32_t crc = 0xFFFFFFFFu;
  for (const unsigned char byte : data) crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8);
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// Protocol-buffer wire types.
enum Wire : uint64_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}
void put_key(std::string& out, uint64_t field, Wire wire) { put_varint(out, field << 3 | wire); }
template <class T>
void put_raw(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
void put_bytes(std::string& out, uint64_t field, const std::string& value) {
  put_key(out, field, bytes);
  put_varint(out, value.size());
  out += value;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Event { double wall_time = 1; ... }.
std::string new_event() {
  std::string event;
  put_key(event, 1, fixed64);
  put_raw(event, wall_seconds());
  return event;
}

}  // namespace

TensorboardWriter::TensorboardWriter(const std::string& folder) {
  std::filesystem::create_directories(folder);
  path_ = (std::filesystem::path(folder) / fmt::format("events.out.tfevents.{:010}.megadlm.{}",
                                                       static_cast<int64_t>(wall_seconds()), ::getpid()))
              .string();
  file_.open(path_, std::ios::binary);
  std::string event = new_event();
  put_bytes(event, 3, "brain.Event:2");  // file_version
  record(event);
  flush();
}

void TensorboardWriter::record(const std::string& event) {
  std::string length;
  put_raw(length, static_cast<uint64_t>(event.size()));
  std::string frame = length;
  put_raw(frame, masked_crc(length));
  frame += event;
  put_raw(frame, masked_crc(event));
  file_.write(frame.data(), static_cast<std::streamsize>(frame.size()));
}

void TensorboardWriter::scalar(const std::string& tag, int64_t step, float value) {
  std::string scalar_value;  // Summary.Value { string tag = 1; float simple_value = 2; }
  put_bytes(scalar_value, 1, tag);
  put_key(scalar_value, 2, fixed32);
  put_raw(scalar_value, value);
  std::string summary;  // Summary { repeated Value value = 1; }
  put_bytes(summary, 1, scalar_value);
  std::string event = new_event();  // Event { int64 step = 2; Summary summary = 5; }
  put_key(event, 2, varint);
  put_varint(event, static_cast<uint64_t>(step));
  put_bytes(event, 5, summary);
  record(event);
}

void TensorboardWriter::flush() {
  file_.flush();
  base::require(file_.good(), "{}: cannot write", path_);
}

}  // namespace megadlm::training
