#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/indexed/indexed_dataset.h"

namespace megadlm::data {

/// A half-open range of documents.
struct DocumentRange {
  int64_t begin = 0, end = 0;
};

/// What an epoch's order depends on.
struct SampleShape {
  DocumentRange documents;
  int64_t seq_length = 0;
  int64_t extra_tokens = 0;  ///< read beyond the row, shared with the next one (AR: 1)
  uint64_t seed = 0;
  bool shuffle = true;
};

/// One epoch's order: documents one after the other, cut into rows, rows shuffled.
struct EpochIndex {
  std::vector<int64_t> documents;  ///< numbers in the order of this epoch
  std::vector<int64_t> ends;       ///< tokens up to and including each of them
  std::vector<int64_t> order;      ///< row of each sample

  friend bool operator==(const EpochIndex&, const EpochIndex&) = default;
};

/// Rows of an epoch with so many tokens; a last part of less than a row is left out (it is another one in
/// each epoch).
int64_t rows_per_epoch(int64_t tokens, const SampleShape& shape);

/// The order of an epoch, a pure function of the arguments.
EpochIndex build_epoch_index(const IndexedDataset& dataset, const SampleShape& shape, int64_t epoch);

/// The same, taken from `cache_folder` where an earlier call left it there. A cache that cannot be written is
/// said once; a damaged one is built anew.
EpochIndex cached_epoch_index(const IndexedDataset& dataset, const SampleShape& shape, int64_t epoch,
                              const std::string& cache_folder);

}  // namespace megadlm::data
