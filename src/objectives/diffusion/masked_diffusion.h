#pragma once

#include "objectives/masking/noise.h"
#include "objectives/objective.h"

namespace megadlm::objectives {

/// Masked diffusion (MDLM, LLaDA; MegaDLMs' difflm modes). Unshifted: output i scores token i. Shifted
/// (Dream): output i - 1 scores token i, so the first token of a row or segment is never masked.
class MaskedDiffusion : public Objective {
 public:
  MaskedDiffusion(const config::ObjectiveOptions& options, int64_t mask_token, uint64_t seed);
  TrainingExample make(const data::RowBatch& rows) const override;
  int64_t extra_tokens() const override { return 0; }

 private:
  config::ObjectiveOptions options_;
  NoiseSchedule noise_;
  int64_t mask_token_;
};

}  // namespace megadlm::objectives
