#include "training/stages/pretrain_data.h"

#include "base/error.h"
#include "base/log.h"
#include "data/preprocess/preprocess.h"
#include "data/samples/gpt_dataset.h"
#include "data/samples/mock.h"
#include "data/samples/split.h"

namespace megadlm::training {
namespace {

std::shared_ptr<const data::IndexedDataset> open(const std::vector<std::string>& paths, const char* flag) {
  if (paths.size() != 1) {
    base::fail_usage(
        "{}: expected one prefix of a .bin/.idx pair, got {}; blends of datasets are not supported", flag,
        paths.size());
  }
  return std::make_shared<const data::IndexedDataset>(paths.front());
}

}  // namespace

PretrainData::PretrainData(const config::DataOptions& data, const config::TrainingOptions& training,
                           const tokenizers::Vocabulary& vocabulary, int64_t extra_tokens)
    : micro_batch_size_(training.micro_batch_size),
      validation_rows_(training.eval_iters * training.global_batch_size) {
  row_options_.vocab_size = vocabulary.vocab_size;
  row_options_.eod_token = vocabulary.eod_token;
  row_options_.reset_position_ids = data.reset_position_ids;
  row_options_.reset_attention_mask = data.reset_attention_mask;
  row_options_.eod_mask_loss = data.eod_mask_loss;
  shape_.seq_length = data.seq_length;
  shape_.extra_tokens = extra_tokens;
  shape_.seed = static_cast<uint64_t>(training.seed);
  if (data.mock_data) {
    training_ = std::make_unique<data::MockDataset>(vocabulary.vocab_size, data.seq_length, extra_tokens,
                                                    shape_.seed);
    return;
  }
  const auto dataset = open(data.data_path, "--data-path");
  data::SampleShape shape = shape_;
  if (data.valid_data_path.empty()) {
    const data::Split split = data::split_documents(data.split, dataset->num_documents());
    shape.documents = split.training;
    if (split.validation.begin < split.validation.end && training.eval_iters > 0) {
      validation_ = dataset;
      validation_documents_ = split.validation;
    }
  } else {
    shape.documents = {0, dataset->num_documents()};
    validation_ = open(data.valid_data_path, "--valid-data-path");
    validation_documents_ = {0, validation_->num_documents()};
  }
  training_ = std::make_unique<data::GptDataset>(dataset, shape, row_options_, data.data_cache_path);
  if (validation_) {
    // Of the whole file: bytes are recorded a file, and tokens are alike throughout it.
    if (const auto bytes = data::text_bytes(validation_->prefix())) {
      validation_bytes_per_token_ =
          static_cast<double>(*bytes) / static_cast<double>(validation_->num_tokens());
    }
  }
  spdlog::info("{}: {} rows an epoch of {} tokens", dataset->prefix(), training_->samples_per_epoch(),
               data.seq_length);
}

data::RowReader PretrainData::validation_rows() const {
  data::SampleShape shape = shape_;
  shape.documents = validation_documents_;
  return data::sequential_rows(validation_, shape, row_options_, micro_batch_size_, validation_rows_);
}

}  // namespace megadlm::training
