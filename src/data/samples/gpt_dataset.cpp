#include "data/samples/gpt_dataset.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"

namespace megadlm::data {

void complete_rows(RowBatch& rows, int64_t length, const RowOptions& options, const std::string& place) {
  const int64_t count = rows.tokens.size(0), width = rows.tokens.size(1);
  const int64_t* ids = rows.tokens.const_data_ptr<int64_t>();
  const auto outside =
      std::find_if(ids, ids + count * width, [&](int64_t id) { return id < 0 || id >= options.vocab_size; });
  if (outside != ids + count * width) {
    base::fail("{}: holds id {}, but the vocabulary has {} ids: the data was made with another tokenizer",
               place, *outside, options.vocab_size);
  }
  if (!options.eod_token) return;
  const auto wanted = [&](bool want) { return want ? at::empty({count, length}, at::kLong) : at::Tensor(); };
  rows.positions = wanted(options.reset_position_ids);
  rows.segments = wanted(options.reset_attention_mask);
  if (options.eod_mask_loss) {
    rows.loss_mask = rows.tokens.slice(1, 0, length).ne(*options.eod_token).to(at::kFloat);
  }
  for (int64_t row = 0; row < count; ++row) {
    int64_t segment = 0, position = 0;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = row * length + i;
      if (rows.positions.defined()) rows.positions.mutable_data_ptr<int64_t>()[at] = position;
      if (rows.segments.defined()) rows.segments.mutable_data_ptr<int64_t>()[at] = segment;
      const bool ends = ids[row * width + i] == *options.eod_token;
      position = ends ? 0 : position + 1;
      segment += ends;
    }
  }
}

GptDataset::GptDataset(std::shared_ptr<const IndexedDataset> dataset, const SampleShape& shape,
                       const RowOptions& options, const std::string& cache_folder)
    : dataset_(std::move(dataset)), shape_(shape), options_(options), cache_folder_(cache_folder) {
  if (cache_folder_.empty()) {
    const auto parent = std::filesystem::path(dataset_->prefix()).parent_path();
    cache_folder_ = parent.empty() ? "." : parent.string();
  }
  int64_t tokens = 0;
  for (int64_t i = shape.documents.begin; i < shape.documents.end; ++i) tokens += dataset_->document(i).count;
  samples_per_epoch_ = rows_per_epoch(tokens, shape_);
  base::require(samples_per_epoch_ > 0,
                "{}: documents {} to {} have {} tokens, less than one row of --seq-length {} (and {} more)",
                dataset_->prefix(), shape.documents.begin, shape.documents.end, tokens, shape.seq_length,
                shape.extra_tokens);
}

std::shared_ptr<const EpochIndex> GptDataset::epoch_index(int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  auto& index = epochs_[epoch];
  if (!index) {
    index = std::make_shared<const EpochIndex>(cached_epoch_index(*dataset_, shape_, epoch, cache_folder_));
    // A batch spans two epochs at most, unless the data is tiny and the rebuilding cheap.
    while (epochs_.size() > 4)
      epochs_.erase(epochs_.begin()->first == epoch ? std::next(epochs_.begin()) : epochs_.begin());
  }
  return epochs_[epoch];
}

void GptDataset::read_row(const EpochIndex& index, int64_t row, int64_t* ids) const {
  int64_t token = row * shape_.seq_length, left = shape_.seq_length + shape_.extra_tokens;
  auto place = std::upper_bound(index.ends.begin(), index.ends.end(), token) - index.ends.begin();
  while (left > 0) {
    const auto span = dataset_->document(index.documents[place]);
    const int64_t offset = token - (index.ends[place] - span.count);
    const int64_t count = std::min(left, span.count - offset);
    dataset_->read(span.first + offset, count, ids);
    ids += count;
    token += count;
    left -= count;
    ++place;
  }
}

RowBatch GptDataset::rows(const std::vector<int64_t>& samples, int64_t batch) const {
  RowBatch result;
  result.batch = batch;
  result.sample = samples;
  const int64_t width = shape_.seq_length + shape_.extra_tokens;
  result.tokens = at::empty({static_cast<int64_t>(samples.size()), width}, at::kLong);
  int64_t* ids = result.tokens.mutable_data_ptr<int64_t>();
  for (const int64_t sample : samples) {
    const auto index = epoch_index(sample / samples_per_epoch_);
    read_row(*index, index->order[sample % samples_per_epoch_], ids);
    ids += width;
  }
  complete_rows(result, shape_.seq_length, options_, dataset_->prefix());
  return result;
}

}  // namespace megadlm::data
