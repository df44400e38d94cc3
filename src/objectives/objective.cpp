#include "objectives/objective.h"

#include "base/error.h"
#include "objectives/autoregressive/autoregressive.h"
#include "objectives/diffusion/masked_diffusion.h"

namespace megadlm::objectives {

std::unique_ptr<Objective> make_objective(const config::ObjectiveOptions& options, int64_t mask_token,
                                          uint64_t seed) {
  if (!options.diffusion()) return std::make_unique<Autoregressive>(options);
  base::require(mask_token >= 0,
                "--model-running-mode {}: the tokenizer has no mask token, and masked diffusion needs one",
                config::name_of(options.model_running_mode));
  return std::make_unique<MaskedDiffusion>(options, mask_token, seed);
}

}  // namespace megadlm::objectives
