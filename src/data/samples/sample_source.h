#pragma once

#include <cstdint>
#include <vector>

#include "data/row_batch.h"

namespace megadlm::data {

/// Rows by global sample number. A row depends on its number alone, not on its neighbours in the batch.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// Samples of one epoch; sample numbers beyond it continue into further epochs.
  virtual int64_t samples_per_epoch() const = 0;
  virtual RowBatch rows(const std::vector<int64_t>& samples, int64_t batch) const = 0;
};

}  // namespace megadlm::data
