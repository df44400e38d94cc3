#pragma once

#include <string>

#include "data/samples/epoch_index.h"

namespace megadlm::data {

/// Documents for training, validation and test.
struct Split {
  DocumentRange training, validation, test;
};

/// Splits documents in order by the shares of `text` ("969,30,1"; fewer numbers: the rest get none), as
/// Megatron-LM does. Errors name --split and the text.
Split split_documents(const std::string& text, int64_t num_documents);

}  // namespace megadlm::data
