#include "objectives/autoregressive/autoregressive.h"

#include <ATen/ATen.h>

#include "objectives/visibility.h"

namespace megadlm::objectives {

TrainingExample Autoregressive::make(const data::RowBatch& rows) const {
  TrainingExample example;
  example.inputs = rows.tokens.slice(1, 0, -1);
  example.targets = rows.tokens.slice(1, 1);
  example.weights = rows.loss_mask.defined() ? rows.loss_mask : at::ones(example.inputs.sizes(), at::kFloat);
  example.positions = rows.positions;
  example.visibility = training_visibility(options_, rows.segments);
  example.tokens = example.weights.sum().item<double>();
  return example;
}

}  // namespace megadlm::objectives
