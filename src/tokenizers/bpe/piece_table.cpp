#include "tokenizers/bpe/piece_table.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/error.h"

namespace megadlm::tokenizers {
namespace {

size_t hash_of(std::string_view piece) { return std::hash<std::string_view>()(piece); }

}  // namespace

PieceTable::PieceTable(size_t count) : slots_(std::bit_ceil(std::max<size_t>(count * 2, 16))) {}

void PieceTable::insert(std::string_view piece, int32_t id) {
  base::require(bytes_.size() + piece.size() <= UINT32_MAX, "a vocabulary of more than 4 GiB of text");
  const size_t hash = hash_of(piece);
  size_t place = hash & (slots_.size() - 1);
  while (slots_[place].id >= 0) place = (place + 1) & (slots_.size() - 1);
  slots_[place] = {static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(piece.size()),
                   static_cast<uint32_t>(hash >> 32), id};
  bytes_ += piece;
}

int32_t PieceTable::find(std::string_view piece) const {
  const size_t hash = hash_of(piece);
  for (size_t place = hash & (slots_.size() - 1);; place = (place + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[place];
    if (slot.id < 0) return -1;
    if (slot.tag == static_cast<uint32_t>(hash >> 32) && slot.size == piece.size() &&
        std::string_view(bytes_.data() + slot.begin, slot.size) == piece) {
      return slot.id;
    }
  }
}

}  // namespace megadlm::tokenizers
