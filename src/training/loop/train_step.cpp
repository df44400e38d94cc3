#include "training/loop/train_step.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <cmath>

namespace megadlm::training {

void TrainStep::backward(const objectives::TrainingExample& example, double normalizer, StepResult& result) {
  const at::Device device = model_.parameters().front().value.device();
  const auto move = [&](const at::Tensor& tensor) { return tensor.defined() ? tensor.to(device) : tensor; };
  models::ModelInput input{move(example.inputs), move(example.positions), example.visibility, nullptr};
  input.visibility.segments = move(input.visibility.segments);
  const at::Tensor weights = move(example.weights / normalizer);
  const at::Tensor loss = model_.loss(model_.hidden(input), move(example.targets), weights);
  (scaler_.scale() == 1.0 ? loss : loss * scaler_.scale()).backward();
  result.loss += loss.item<double>();
  result.tokens += example.inputs.numel();
  result.head_tokens += example.weights.count_nonzero().item<int64_t>();
}

StepResult TrainStep::run(const std::vector<data::RowBatch>& micro_batches, double learning_rate) {
  std::vector<objectives::TrainingExample> examples;
  double normalizer = 0;
  for (const data::RowBatch& rows : micro_batches) {
    examples.push_back(objective_.make(rows));
    normalizer += examples.back().tokens;
  }
  // A batch without a single target (all padding) has loss 0 and zero gradients.
  normalizer = std::max(normalizer, 1.0);

  StepResult result;
  for (size_t i = 0; i < examples.size(); ++i) {
    backward(examples[i], normalizer, result);
    optimizer_.collect_gradients(i + 1 == examples.size());
    if (!std::isfinite(result.loss) && !result.non_finite) {
      result.non_finite =
          fmt::format("the loss is {} in samples {}", result.loss, fmt::join(micro_batches[i].sample, ", "));
    }
  }
  const double multiplier = 1 / scaler_.scale();
  result.gradient_norm = optimizer_.gradient_norm(multiplier);
  if (!std::isfinite(result.gradient_norm) && !result.non_finite) {
    result.non_finite = fmt::format("the gradient of '{}' is not finite (loss scale {})",
                                    optimizer_.first_non_finite_gradient().value_or("?"), scaler_.scale());
    result.overflow = scaler_.can_fall();
  }
  scaler_.update(result.non_finite.has_value());
  if (result.non_finite) {
    optimizer_.discard_gradients();
  } else {
    optimizer_.step(learning_rate, multiplier, result.gradient_norm);
  }
  return result;
}

}  // namespace megadlm::training
