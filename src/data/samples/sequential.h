#pragma once

#include <functional>
#include <optional>

#include "data/samples/gpt_dataset.h"

namespace megadlm::data {

/// Gives the next rows, or nothing at the end.
using RowReader = std::function<std::optional<RowBatch>()>;

/// Documents of a range from the first to the last token, in rows of `seq_length` (and `extra_tokens` shared
/// with the next row), `batch_size` rows at a time; what is left of less than a row comes last, as a shorter
/// row of its own. Sample numbers count rows. At most `max_rows` rows, all when it is 0.
RowReader sequential_rows(std::shared_ptr<const IndexedDataset> dataset, const SampleShape& shape,
                          const RowOptions& options, int64_t batch_size, int64_t max_rows);

}  // namespace megadlm::data
