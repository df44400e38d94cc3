#pragma once

#include <memory>
#include <optional>

#include "config/options/data.h"
#include "config/options/training.h"
#include "data/samples/sequential.h"
#include "tokenizers/vocabulary.h"

namespace megadlm::training {

/// Where a pre-training run's rows come from.
class PretrainData {
 public:
  PretrainData(const config::DataOptions& data, const config::TrainingOptions& training,
               const tokenizers::Vocabulary& vocabulary, int64_t extra_tokens);

  data::RowBatch training_rows(const std::vector<int64_t>& samples, int64_t batch) const {
    return training_->rows(samples, batch);
  }
  bool has_validation() const { return validation_ != nullptr; }
  /// The first rows of the held-out documents, the same at each call.
  data::RowReader validation_rows() const;
  /// UTF-8 bytes a token of the validation text, where they were recorded.
  std::optional<double> validation_bytes_per_token() const { return validation_bytes_per_token_; }

 private:
  data::RowOptions row_options_;
  data::SampleShape shape_;
  std::unique_ptr<const data::SampleSource> training_;
  std::shared_ptr<const data::IndexedDataset> validation_;
  data::DocumentRange validation_documents_;
  std::optional<double> validation_bytes_per_token_;
  int64_t micro_batch_size_, validation_rows_;
};

}  // namespace megadlm::training
