#include "data/samples/sequential.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace megadlm::data {

RowReader sequential_rows(std::shared_ptr<const IndexedDataset> dataset, const SampleShape& shape,
                          const RowOptions& options, int64_t batch_size, int64_t max_rows) {
  base::require(shape.documents.begin < shape.documents.end, "{}: has no documents to read",
                dataset->prefix());
  const auto first = dataset->document(shape.documents.begin),
             last = dataset->document(shape.documents.end - 1);
  const int64_t begin = first.first, tokens = last.first + last.count - begin;
  base::require(tokens > shape.extra_tokens, "{}: has {} tokens, too few to score one", dataset->prefix(),
                tokens);
  const int64_t limit = max_rows > 0 ? max_rows : std::numeric_limits<int64_t>::max();
  return [=, row = int64_t{0}]() mutable -> std::optional<RowBatch> {
    const int64_t scored = tokens - shape.extra_tokens, start = row * shape.seq_length;
    if (start >= scored || row >= limit) return std::nullopt;
    const int64_t whole = (scored - start) / shape.seq_length;
    const int64_t count = whole > 0 ? std::min({batch_size, whole, limit - row}) : 1;
    const int64_t length = whole > 0 ? shape.seq_length : scored - start;
    RowBatch rows;
    rows.tokens = at::empty({count, length + shape.extra_tokens}, at::kLong);
    int64_t* ids = rows.tokens.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < count; ++i, ++row, ids += length + shape.extra_tokens) {
      dataset->read(begin + row * shape.seq_length, length + shape.extra_tokens, ids);
      rows.sample.push_back(row);
    }
    complete_rows(rows, length, options, dataset->prefix());
    return rows;
  };
}

}  // namespace megadlm::data
