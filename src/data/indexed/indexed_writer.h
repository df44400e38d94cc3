#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/indexed/format.h"

namespace megadlm::data {

/// Writes a PREFIX.bin/PREFIX.idx pair; neither file appears before finish().
class IndexedWriter {
 public:
  /// Ids must be below `vocab_size`, which also chooses their width.
  IndexedWriter(const std::string& prefix, int64_t vocab_size);

  /// Adds one document of one sequence. An id outside the vocabulary is an Error.
  void add_document(const std::vector<int32_t>& ids);
  void finish();

  int64_t num_documents() const { return static_cast<int64_t>(lengths_.size()); }
  int64_t num_tokens() const { return tokens_; }

 private:
  std::string prefix_;
  int64_t vocab_size_;
  IdType type_;
  base::AtomicFile bin_, index_;
  std::vector<int32_t> lengths_;
  std::vector<uint16_t> narrow_;
  int64_t tokens_ = 0;
};

}  // namespace megadlm::data
