#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "models/language_model.h"

namespace megadlm::generation {

struct AutoregressiveSettings {
  int64_t max_new_tokens = 0;
  double temperature = 0;
  std::vector<int64_t> banned;       ///< the mask token
  std::optional<int64_t> eod_token;  ///< ends the text
  uint64_t seed = 0;
  int64_t row = 0;  ///< keys the random numbers
};

/// Continues a prompt token by token with a cache of keys and values; gives the new tokens, without the one
/// that ended them. `callback` sees each new token.
std::vector<int64_t> continue_prompt(const models::LanguageModel& model, const std::vector<int64_t>& prompt,
                                     const AutoregressiveSettings& settings,
                                     const std::function<void(int64_t token)>& callback = {});

}  // namespace megadlm::generation
