#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "checkpoint/safetensors/safetensors.h"
#include "checkpoint/safetensors/types.h"

namespace megadlm::checkpoint {
namespace {

using nlohmann::json;

constexpr uint64_t kLargestHeader = 100'000'000;  // the format's own limit

std::optional<uint64_t> natural(const json& value) {
  if (!value.is_number_integer() || (value.is_number_integer() && !value.is_number_unsigned()))
    return std::nullopt;
  return value.get<uint64_t>();
}

at::ScalarType read_type(const json& value, const std::string& place) {
  base::require(value.is_string(), "{}: dtype is {}, not a string", place, value.dump());
  for (const auto& [type, name] : kSafetensorsTypes) {
    if (name == value.get_ref<const std::string&>()) return type;
  }
  base::fail("{}: dtype {} is not supported", place, value.dump());
}

SafetensorsFile::Entry read_entry(const json& value, uint64_t data_size, const std::string& place) {
  base::require(value.is_object() && value.contains("dtype") && value.contains("shape") &&
                    value.contains("data_offsets") && value["shape"].is_array() &&
                    value["data_offsets"].is_array() && value["data_offsets"].size() == 2,
                "{}: expected dtype, shape and two data_offsets", place);
  SafetensorsFile::Entry entry;
  entry.type = read_type(value["dtype"], place);
  uint64_t bytes = c10::elementSize(entry.type);
  for (const json& size : value["shape"]) {
    const auto number = natural(size);
    base::require(number && *number <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
                      !__builtin_mul_overflow(bytes, *number, &bytes),
                  "{}: shape {} is not possible", place, value["shape"].dump());
    entry.shape.push_back(static_cast<int64_t>(*number));
  }
  const auto begin = natural(value["data_offsets"][0]), end = natural(value["data_offsets"][1]);
  base::require(begin && end && *begin <= *end && *end <= data_size,
                "{}: data_offsets {} are outside the file's {} bytes of data (cut off?)", place,
                value["data_offsets"].dump(), data_size);
  entry.begin = *begin;
  entry.end = *end;
  base::require(entry.end - entry.begin == bytes,
                "{}: shape {} of {} needs {} bytes, but data_offsets give {}", place, value["shape"].dump(),
                value["dtype"].dump(), bytes, entry.end - entry.begin);
  return entry;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  uint64_t length = 0;
  base::require(file_.size() >= sizeof(length), "{}: has {} bytes; a safetensors file has at least 8",
                path.string(), file_.size());
  std::memcpy(&length, file_.data(), sizeof(length));
  base::require(length <= kLargestHeader && length <= file_.size() - sizeof(length),
                "{}: says that its header has {} bytes, but the file has {} (at most {} are accepted)",
                path.string(), length, file_.size(), kLargestHeader);
  data_begin_ = sizeof(length) + length;
  read_entries(file_.text().substr(sizeof(length), length));
  check_ranges();
}

void SafetensorsFile::read_entries(std::string_view header) {
  const std::string place = file_.path().string();
  json parsed;
  std::string repeated;
  std::vector<std::string> keys;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1) {
      const std::string& key = value.get_ref<const std::string&>();
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) repeated = key;
      keys.push_back(key);
    }
    return true;
  };
  try {
    parsed = json::parse(header, watch);
  } catch (const json::exception& error) {
    base::fail("{}: the header is not valid JSON: {}", place, error.what());
  }
  base::require(parsed.is_object(), "{}: the header is not a JSON object", place);
  base::require(repeated.empty(), "{}: the header names '{}' twice", place, repeated);
  for (const auto& [name, value] : parsed.items()) {
    if (name != "__metadata__") {
      entries_[name] = read_entry(value, file_.size() - data_begin_, place + ": tensor '" + name + "'");
      continue;
    }
    base::require(value.is_object(), "{}: __metadata__ is not an object", place);
    for (const auto& [key, text] : value.items()) {
      base::require(text.is_string(), "{}: metadata '{}' is not a string", place, key);
      metadata_[key] = text.get<std::string>();
    }
  }
}

void SafetensorsFile::check_ranges() const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : entries_) ranges.emplace_back(entry.begin, entry.end);
  std::sort(ranges.begin(), ranges.end());
  uint64_t expected = 0;
  for (const auto& [begin, end] : ranges) {
    base::require(begin == expected, "{}: tensors {} at byte {} of the data", file_.path().string(),
                  begin < expected ? "overlap" : "leave a hole", std::min(begin, expected));
    expected = end;
  }
  base::require(expected == file_.size() - data_begin_, "{}: has {} bytes of data, but its tensors fill {}",
                file_.path().string(), file_.size() - data_begin_, expected);
}

at::Tensor SafetensorsFile::tensor(const std::string& name) const {
  const auto found = entries_.find(name);
  base::require(found != entries_.end(), "{}: has no tensor '{}'", file_.path().string(), name);
  const Entry& entry = found->second;
  at::Tensor result = at::empty(entry.shape, entry.type);
  const auto bytes = file_.bytes(data_begin_ + entry.begin, entry.end - entry.begin);
  if (!bytes.empty()) std::memcpy(result.mutable_data_ptr(), bytes.data(), bytes.size());
  return result;
}

std::vector<NamedTensor> SafetensorsFile::tensors() const {
  std::vector<NamedTensor> result;
  for (const auto& [name, entry] : entries_) result.push_back({name, tensor(name)});
  return result;
}

}  // namespace megadlm::checkpoint
