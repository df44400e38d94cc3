#include "data/indexed/indexed_writer.h"

#include <limits>

#include "base/error.h"

namespace megadlm::data {

IndexedWriter::IndexedWriter(const std::string& prefix, int64_t vocab_size)
    : prefix_(prefix),
      vocab_size_(vocab_size),
      type_(id_type_for(vocab_size)),
      bin_(prefix + ".bin"),
      index_(prefix + ".idx") {}

void IndexedWriter::add_document(const std::vector<int32_t>& ids) {
  base::require(ids.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
                "{}: document {} has {} tokens; the format holds at most {}", prefix_, num_documents(),
                ids.size(), std::numeric_limits<int32_t>::max());
  for (const int32_t id : ids) {
    base::require(id >= 0 && id < vocab_size_, "{}: document {} has id {}, but the vocabulary has {} ids",
                  prefix_, num_documents(), id, vocab_size_);
  }
  if (type_ == IdType::uint16) {
    narrow_.assign(ids.begin(), ids.end());
    bin_.write(narrow_.data(), narrow_.size() * sizeof(uint16_t));
  } else {
    bin_.write(ids.data(), ids.size() * sizeof(int32_t));
  }
  lengths_.push_back(static_cast<int32_t>(ids.size()));
  tokens_ += static_cast<int64_t>(ids.size());
}

void IndexedWriter::finish() {
  const auto write = [&](const auto& value) { index_.write(&value, sizeof(value)); };
  index_.write(kIndexMagic.data(), kIndexMagic.size());
  write(kIndexVersion);
  write(static_cast<uint8_t>(type_));
  write(static_cast<uint64_t>(lengths_.size()));
  write(static_cast<uint64_t>(lengths_.size() + 1));
  index_.write(lengths_.data(), lengths_.size() * sizeof(int32_t));
  int64_t pointer = 0;
  for (const int32_t length : lengths_) {
    write(pointer);
    pointer += length * id_width(type_);
  }
  for (int64_t bookend = 0; bookend <= num_documents(); ++bookend) write(bookend);
  bin_.commit();
  index_.commit();
}

}  // namespace megadlm::data
