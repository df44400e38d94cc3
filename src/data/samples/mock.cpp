#include "data/samples/mock.h"

#include <ATen/ATen.h>

namespace megadlm::data {

RowBatch MockDataset::rows(const std::vector<int64_t>& samples, int64_t batch) const {
  RowBatch result;
  result.batch = batch;
  result.sample = samples;
  result.tokens = at::empty({static_cast<int64_t>(samples.size()), length_}, at::kLong);
  int64_t* ids = result.tokens.mutable_data_ptr<int64_t>();
  for (const int64_t sample : samples) {
    for (int64_t i = 0; i < length_; ++i) {
      *ids++ = static_cast<int64_t>(random_.below(static_cast<uint64_t>(vocab_size_),
                                                  static_cast<uint64_t>(sample), static_cast<uint64_t>(i)));
    }
  }
  return result;
}

}  // namespace megadlm::data
