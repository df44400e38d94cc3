#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "data/indexed/format.h"

namespace megadlm::data {

/// A PREFIX.bin/PREFIX.idx pair, mapped into memory. Opening checks everything that the index says against
/// the files' sizes; errors name the file, what was expected and what was found.
class IndexedDataset {
 public:
  explicit IndexedDataset(const std::string& prefix);

  const std::string& prefix() const { return prefix_; }
  IdType id_type() const { return type_; }
  int64_t num_sequences() const { return sequences_; }
  int64_t num_documents() const { return bookends_ - 1; }
  int64_t num_tokens() const { return tokens_; }
  /// Tokens of a sequence.
  int64_t length(int64_t sequence) const;
  /// The document's place in the file, whose tokens lie one after the other.
  struct Span {
    int64_t first = 0, count = 0;
  };
  Span document(int64_t document) const;
  /// Copies `count` ids from token `first` of the file on.
  void read(int64_t first, int64_t count, int64_t* ids) const;

 private:
  void check_index() const;
  int64_t first_token(int64_t sequence) const;

  std::string prefix_;
  base::MappedFile index_, bin_;
  IdType type_{};
  int64_t sequences_ = 0, bookends_ = 0, tokens_ = 0;
  const std::byte* lengths_ = nullptr;
  const std::byte* pointers_ = nullptr;
  const std::byte* documents_ = nullptr;
};

}  // namespace megadlm::data
