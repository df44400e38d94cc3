#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizers/bpe/merges.h"
#include "tokenizers/bpe/piece_table.h"

namespace megadlm::tokenizers {

/// The "model" of a tokenizer.json of type BPE: a vocabulary and ranked merges, which turn one piece of text
/// into ids.
class BpeModel {
 public:
  BpeModel() = default;
  /// Reads the model of the file `place`. With `byte_level` pieces are bytes, which the file writes in the
  /// byte alphabet; else their symbols are characters. What is not supported is an Error that names it.
  BpeModel(const nlohmann::json& model, bool byte_level, const std::string& place);

  /// Appends the ids of `piece` (not empty; any bytes with `byte_level`, else valid UTF-8). A symbol that the
  /// vocabulary lacks becomes the unknown token, or, without one, is left out with a warning.
  void encode(std::string_view piece, std::vector<int32_t>& ids) const;

  /// Tokens in the file's spelling.
  const std::unordered_map<std::string, int32_t>& ids() const { return ids_; }
  /// One above the greatest id.
  int64_t size() const { return size_; }

 private:
  void read_vocabulary(const nlohmann::json& vocabulary);
  void read_merges(const nlohmann::json& merges);
  void read_unknown(const nlohmann::json& model);
  /// Fills whole_ with the pieces that one id stands for.
  void find_whole_pieces(bool ignore_merges);
  int32_t id_of(const std::string& piece, const std::string& left, const std::string& right) const;
  /// Ids of the bytes or characters. Those that are missing and have no unknown token to stand for them go to
  /// `missing`.
  void append_symbols(std::string_view piece, std::vector<int32_t>& symbols, std::string& missing) const;

  std::string place_;
  bool byte_level_ = false, fuse_unknown_ = false;
  int64_t size_ = 0;
  std::unordered_map<std::string, int32_t> ids_;
  std::array<int32_t, 256> byte_ids_{};  ///< with byte_level: -1 where the vocabulary lacks the byte
  std::optional<int32_t> unknown_;
  MergeTable merges_;
  PieceTable whole_;
};

}  // namespace megadlm::tokenizers
