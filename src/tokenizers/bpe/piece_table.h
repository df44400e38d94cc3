#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace megadlm::tokenizers {

/// Ids of pieces by their bytes: an open-addressed table that is built once and then read by any thread.
class PieceTable {
 public:
  /// Room for `count` pieces.
  explicit PieceTable(size_t count = 0);

  /// Adds a piece that is not there yet.
  void insert(std::string_view piece, int32_t id);
  /// The piece's id, or -1.
  int32_t find(std::string_view piece) const;

 private:
  struct Slot {
    uint32_t begin = 0, size = 0;  ///< in bytes_
    uint32_t tag = 0;              ///< bits of the hash that do not choose the slot
    int32_t id = -1;               ///< -1: free
  };
  std::vector<Slot> slots_;
  std::string bytes_;
};

}  // namespace megadlm::tokenizers
