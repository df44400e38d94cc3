#include "generation/samplers/autoregressive.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "generation/samplers/selection.h"

namespace megadlm::generation {

std::vector<int64_t> continue_prompt(const models::LanguageModel& model, const std::vector<int64_t>& prompt,
                                     const AutoregressiveSettings& settings,
                                     const std::function<void(int64_t token)>& callback) {
  base::require(!prompt.empty(), "autoregressive generation needs a prompt of at least one token");
  const at::NoGradGuard no_gradient;
  const BannedIds banned{settings.banned, model.architecture().vocab_size};
  nn::KeyValueCache cache;
  models::ModelInput input;
  input.tokens = at::tensor(prompt, at::kLong).unsqueeze(0);
  input.visibility.kind = ops::Visibility::Kind::causal;
  input.cache = &cache;
  std::vector<int64_t> result;
  while (static_cast<int64_t>(result.size()) < settings.max_new_tokens) {
    const at::Tensor last = model.hidden(input).select(1, -1);
    DrawKeys keys;
    keys.row = {settings.row};
    keys.position = {static_cast<int64_t>(prompt.size() + result.size())};
    keys.seed = settings.seed;
    const int64_t token = draft_tokens(model.logits(last), banned, settings.temperature,
                                       config::Remasking::low_confidence, keys)
                              .tokens.item<int64_t>();
    if (settings.eod_token == token) break;
    result.push_back(token);
    if (callback) callback(token);
    input.tokens = at::full({1, 1}, token, at::kLong);
  }
  return result;
}

}  // namespace megadlm::generation
