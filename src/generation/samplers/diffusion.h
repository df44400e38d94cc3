#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "config/options/objective.h"
#include "generation/samplers/selection.h"
#include "models/language_model.h"

namespace megadlm::generation {

/// What the diffusion sampler needs to know of a model and a request.
struct DiffusionSettings {
  int64_t mask_token = -1;
  std::optional<int64_t> eod_token;
  std::vector<int64_t> banned;  ///< ids that are never drawn, besides the mask and the vocabulary's padding
  int64_t steps = 0;            ///< over all blocks; 0: one a masked token
  int64_t block_length = 0;     ///< 0: one block
  double temperature = 0, cfg_scale = 0;
  config::Remasking remasking = config::Remasking::low_confidence;
  uint64_t seed = 0;
  int64_t first_row = 0;  ///< number of the canvas's first row, which keys its random numbers
};

/// The canvas after a step.
struct DenoisingStep {
  int64_t step = 0;             ///< from 1
  int64_t steps = 0;            ///< as many as there will be, unless rows end early
  const at::Tensor& canvas;     ///< [b, s] i64
  const at::Tensor& committed;  ///< [b, s] bool: set in this step
  bool last = false;
};
using StepCallback = std::function<void(const DenoisingStep&)>;

/// Hidden states and logits, as the sampler asks for them: the model, or a stand-in in tests.
struct DiffusionModel {
  /// [b, s] ids and the flat positions that logits are wanted of → [n, V].
  std::function<at::Tensor(const at::Tensor& canvas, const at::Tensor& positions)> logits;
  int64_t vocab_size = 0;
};

/// A language model seen so; a shifted model's output i - 1 serves position i.
DiffusionModel diffusion_model(const models::LanguageModel& model, const config::ObjectiveOptions& objective);

/// Fills the mask tokens of `canvas` [b, s] (LLaDA's sampler: blocks from left to right; each step drafts all
/// masked positions of the block and commits the best of each row). A row's blocks cover the stretch from its
/// first to its last mask, and share the steps; a block without a mask takes none. A row that has drawn its
/// end-of-document token with no mask before it is finished: what was masked behind it becomes that token. A
/// row's result depends on the row, its number and the settings alone. Gives the filled canvas. An Error when
/// there are fewer steps than blocks, or logits are not finite.
at::Tensor denoise(const DiffusionModel& model, const at::Tensor& canvas, const DiffusionSettings& settings,
                   const StepCallback& callback = {});

}  // namespace megadlm::generation
