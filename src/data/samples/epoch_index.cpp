#include "data/samples/epoch_index.h"

#include <cstring>
#include <filesystem>
#include <numeric>

#include "base/checksum.h"
#include "base/error.h"
#include "base/log.h"
#include "base/philox.h"

namespace megadlm::data {
namespace {

/// Fisher-Yates with Philox numbers keyed by (epoch, position).
void shuffle(std::vector<int64_t>& values, uint64_t seed, base::RandomStream stream, int64_t epoch) {
  const base::Random random(seed, stream);
  for (size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(i, static_cast<uint64_t>(epoch), i)]);
  }
}

std::vector<int64_t> counted(int64_t begin, int64_t end) {
  std::vector<int64_t> values(end - begin);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

/// Names the cache by everything that the index depends on.
std::filesystem::path cache_path(const IndexedDataset& dataset, const SampleShape& shape, int64_t epoch,
                                 const std::string& folder) {
  const std::filesystem::path prefix(dataset.prefix());
  const std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", std::filesystem::absolute(prefix).string(),
                  dataset.num_tokens(), dataset.num_documents(),
                  std::filesystem::last_write_time(prefix.string() + ".idx").time_since_epoch().count(),
                  shape.documents.begin, shape.documents.end, shape.seq_length, shape.extra_tokens,
                  shape.seed, shape.shuffle);
  base::Checksum checksum;
  checksum.update(key.data(), key.size());
  return std::filesystem::path(folder) /
         fmt::format("{}_{}_epoch{}.samples", prefix.filename().string(), checksum.hex(), epoch);
}

// A cache file: three counts, the three lists, and the checksum of all before it.
void write_cache(const std::filesystem::path& path, const EpochIndex& index) {
  base::AtomicFile file(path);
  base::Checksum checksum;
  const auto write = [&](const void* data, uint64_t size) {
    file.write(data, size);
    checksum.update(data, size);
  };
  for (const auto* list : {&index.documents, &index.ends, &index.order}) {
    const uint64_t count = list->size();
    write(&count, sizeof(count));
  }
  for (const auto* list : {&index.documents, &index.ends, &index.order})
    write(list->data(), list->size() * 8);
  const uint64_t value = checksum.value();
  file.write(&value, sizeof(value));
  file.commit();
}

/// False when the file is not a whole cache.
bool read_cache(const std::filesystem::path& path, EpochIndex& index) {
  const base::MappedFile file(path);
  uint64_t counts[3], value = 0;
  if (file.size() < sizeof(counts) + sizeof(value)) return false;
  std::memcpy(counts, file.data(), sizeof(counts));
  const uint64_t words = (file.size() - sizeof(counts) - sizeof(value)) / 8;
  if (counts[0] > words || counts[1] > words || counts[2] > words ||
      counts[0] + counts[1] + counts[2] != words) {
    return false;
  }
  base::Checksum checksum;
  checksum.update(file.data(), file.size() - sizeof(value));
  std::memcpy(&value, file.data() + file.size() - sizeof(value), sizeof(value));
  if (value != checksum.value()) return false;
  const std::byte* data = file.data() + sizeof(counts);
  size_t i = 0;
  for (auto* list : {&index.documents, &index.ends, &index.order}) {
    list->resize(counts[i]);
    std::memcpy(list->data(), data, counts[i] * 8);
    data += counts[i++] * 8;
  }
  return true;
}

}  // namespace

int64_t rows_per_epoch(int64_t tokens, const SampleShape& shape) {
  return tokens < shape.extra_tokens ? 0 : (tokens - shape.extra_tokens) / shape.seq_length;
}

EpochIndex build_epoch_index(const IndexedDataset& dataset, const SampleShape& shape, int64_t epoch) {
  EpochIndex index;
  index.documents = counted(shape.documents.begin, shape.documents.end);
  if (shape.shuffle) shuffle(index.documents, shape.seed, base::RandomStream::document_shuffle, epoch);
  int64_t tokens = 0;
  for (const int64_t document : index.documents) {
    tokens += dataset.document(document).count;
    index.ends.push_back(tokens);
  }
  index.order = counted(0, rows_per_epoch(tokens, shape));
  if (shape.shuffle) shuffle(index.order, shape.seed, base::RandomStream::sample_shuffle, epoch);
  return index;
}

EpochIndex cached_epoch_index(const IndexedDataset& dataset, const SampleShape& shape, int64_t epoch,
                              const std::string& cache_folder) {
  const std::filesystem::path path = cache_path(dataset, shape, epoch, cache_folder);
  EpochIndex index;
  if (std::filesystem::exists(path)) {
    if (read_cache(path, index)) return index;
    spdlog::warn("{}: the cached sample order is damaged; it is built anew", path.string());
  }
  index = build_epoch_index(dataset, shape, epoch);
  try {
    std::filesystem::create_directories(path.parent_path());
    write_cache(path, index);
  } catch (const std::exception& error) {
    base::warn_once(fmt::format("sample orders are not cached: {}", error.what()));
  }
  return index;
}

}  // namespace megadlm::data
