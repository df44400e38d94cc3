#include "data/indexed/indexed_dataset.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace megadlm::data {
namespace {

/// Values in the files stand at any alignment.
template <class T>
T load(const std::byte* bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

}  // namespace

IndexedDataset::IndexedDataset(const std::string& prefix)
    : prefix_(prefix), index_(prefix + ".idx"), bin_(prefix + ".bin") {
  const std::string name = prefix + ".idx";
  base::require(index_.size() >= kIndexHeaderSize,
                "{}: has {} bytes, but an index begins with a header of {} bytes", name, index_.size(),
                kIndexHeaderSize);
  const std::byte* header = index_.data();
  base::require(std::memcmp(header, kIndexMagic.data(), kIndexMagic.size()) == 0,
                "{}: does not begin with 'MMIDIDX': not an index of Megatron-LM's format", name);
  const auto version = load<uint64_t>(header + 9, 0);
  base::require(version == kIndexVersion, "{}: version {} is not supported; accepted: {}", name, version,
                kIndexVersion);
  const auto code = std::to_integer<int>(header[17]);
  base::require(code == static_cast<int>(IdType::int32) || code == static_cast<int>(IdType::uint16),
                "{}: element type {} is not a type of token ids; accepted: 4 (int32), 8 (uint16)", name,
                code);
  type_ = static_cast<IdType>(code);
  const auto sequences = load<uint64_t>(header + 18, 0), bookends = load<uint64_t>(header + 26, 0);
  const uint64_t body = index_.size() - kIndexHeaderSize;
  base::require(sequences <= body / 12 && bookends <= body / 8 && sequences * 12 + bookends * 8 == body,
                "{}: says {} sequences and {} document bookends, which do not fit its {} bytes", name,
                sequences, bookends, index_.size());
  sequences_ = static_cast<int64_t>(sequences);
  bookends_ = static_cast<int64_t>(bookends);
  lengths_ = header + kIndexHeaderSize;
  pointers_ = lengths_ + sequences_ * 4;
  documents_ = pointers_ + sequences_ * 8;
  check_index();
  tokens_ = static_cast<int64_t>(bin_.size()) / id_width(type_);
}

void IndexedDataset::check_index() const {
  const std::string name = prefix_ + ".idx";
  uint64_t expected = 0;
  for (int64_t i = 0; i < sequences_; ++i) {
    const auto count = load<int32_t>(lengths_, i);
    const auto pointer = load<int64_t>(pointers_, i);
    base::require(count >= 0 && static_cast<uint64_t>(pointer) == expected,
                  "{}: sequence {} has length {} at byte {}, expected a length of at least 0 at byte {}",
                  name, i, count, pointer, expected);
    expected += static_cast<uint64_t>(count) * static_cast<uint64_t>(id_width(type_));
  }
  base::require(expected == bin_.size(),
                "{}.bin: has {} bytes, but its index says {}: cut off, or of another pair", prefix_,
                bin_.size(), expected);
  base::require(bookends_ >= 1, "{}: has no document bookends", name);
  int64_t before = 0;
  for (int64_t i = 0; i < bookends_; ++i) {
    const auto bookend = load<int64_t>(documents_, i);
    const bool good = bookend >= before && bookend <= sequences_ && (i > 0 || bookend == 0) &&
                      (i + 1 < bookends_ || bookend == sequences_);
    base::require(good, "{}: document bookend {} is {}, expected a rise from 0 to {} sequences", name, i,
                  bookend, sequences_);
    before = bookend;
  }
}

int64_t IndexedDataset::length(int64_t sequence) const {
  base::require(sequence >= 0 && sequence < sequences_, "{}: sequence {} of {}", prefix_, sequence,
                sequences_);
  return load<int32_t>(lengths_, sequence);
}

int64_t IndexedDataset::first_token(int64_t sequence) const {
  return sequence == sequences_ ? tokens_ : load<int64_t>(pointers_, sequence) / id_width(type_);
}

IndexedDataset::Span IndexedDataset::document(int64_t document) const {
  base::require(document >= 0 && document < num_documents(), "{}: document {} of {}", prefix_, document,
                num_documents());
  const int64_t first = first_token(load<int64_t>(documents_, document));
  return {first, first_token(load<int64_t>(documents_, document + 1)) - first};
}

void IndexedDataset::read(int64_t first, int64_t count, int64_t* ids) const {
  base::require(first >= 0 && count >= 0 && first <= tokens_ && count <= tokens_ - first,
                "{}: {} ids from {} on, but there are {}", prefix_, count, first, tokens_);
  const std::byte* bytes = bin_.data() + first * id_width(type_);
  for (int64_t i = 0; i < count; ++i) {
    ids[i] = type_ == IdType::uint16 ? int64_t{load<uint16_t>(bytes, i)} : int64_t{load<int32_t>(bytes, i)};
  }
}

}  // namespace megadlm::data
