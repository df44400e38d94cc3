#pragma once

#include "base/philox.h"
#include "data/samples/sample_source.h"

namespace megadlm::data {

/// Uniform random ids below `vocab_size`, keyed by (seed, sample, position).
class MockDataset : public SampleSource {
 public:
  MockDataset(int64_t vocab_size, int64_t seq_length, int64_t extra_tokens, uint64_t seed)
      : vocab_size_(vocab_size),
        length_(seq_length + extra_tokens),
        random_(seed, base::RandomStream::mock_data) {}

  int64_t samples_per_epoch() const override { return int64_t{1} << 40; }
  RowBatch rows(const std::vector<int64_t>& samples, int64_t batch) const override;

 private:
  int64_t vocab_size_, length_;
  base::Random random_;
};

}  // namespace megadlm::data
