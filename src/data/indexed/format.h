#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace megadlm::data {

// Megatron-LM's indexed dataset. PREFIX.idx: magic (9 bytes), version (u64), element type (u8), number of
// sequences (u64), number of document bookends (u64), sequence lengths (i32 each), byte offsets into
// PREFIX.bin (i64 each), bookends (i64 each: sequence numbers, from 0 to the number of sequences).
// PREFIX.bin: the ids. All little-endian. Source: megatron/core/datasets/indexed_dataset.py.

inline constexpr std::array<char, 9> kIndexMagic{'M', 'M', 'I', 'D', 'I', 'D', 'X', '\0', '\0'};
inline constexpr uint64_t kIndexVersion = 1;
inline constexpr size_t kIndexHeaderSize = 9 + 8 + 1 + 8 + 8;

/// The element types that hold token ids.
enum class IdType : uint8_t { int32 = 4, uint16 = 8 };

constexpr int64_t id_width(IdType type) { return type == IdType::uint16 ? 2 : 4; }

/// Megatron-LM's choice: 16 bits below 65,500 entries, else 32.
constexpr IdType id_type_for(int64_t vocab_size) {
  return vocab_size < 65500 ? IdType::uint16 : IdType::int32;
}

}  // namespace megadlm::data
