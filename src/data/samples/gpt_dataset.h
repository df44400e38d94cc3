#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "data/samples/epoch_index.h"
#include "data/samples/sample_source.h"

namespace megadlm::data {

/// What rows carry beside their tokens, as Megatron-LM's options of the same names say. Documents are told
/// apart by their end-of-document token.
struct RowOptions {
  int64_t vocab_size = 0;  ///< ids must be below
  std::optional<int64_t> eod_token;
  bool reset_position_ids = false;
  bool reset_attention_mask = false;
  bool eod_mask_loss = false;
};

/// Fills positions, segments and loss mask of rows whose tokens [b, length + extra] are set; checks the ids.
/// `place` names the data in errors.
void complete_rows(RowBatch& rows, int64_t length, const RowOptions& options, const std::string& place);

/// Rows over the documents of a range: each epoch a new order of documents, laid one after the other, cut
/// into rows of `seq_length` tokens, the rows shuffled. In an epoch each row is given exactly once.
class GptDataset : public SampleSource {
 public:
  /// An Error when the range has less than one row. `cache_folder` empty: beside the data.
  GptDataset(std::shared_ptr<const IndexedDataset> dataset, const SampleShape& shape,
             const RowOptions& options, const std::string& cache_folder);

  int64_t samples_per_epoch() const override { return samples_per_epoch_; }
  RowBatch rows(const std::vector<int64_t>& samples, int64_t batch) const override;

 private:
  std::shared_ptr<const EpochIndex> epoch_index(int64_t epoch) const;
  void read_row(const EpochIndex& index, int64_t row, int64_t* ids) const;

  std::shared_ptr<const IndexedDataset> dataset_;
  SampleShape shape_;
  RowOptions options_;
  std::string cache_folder_;
  int64_t samples_per_epoch_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, std::shared_ptr<const EpochIndex>> epochs_;
};

}  // namespace megadlm::data
