#pragma once

#include <cstdint>
#include <optional>

#include "config/options/objective.h"
#include "data/samples/sequential.h"
#include "models/language_model.h"

namespace megadlm::evaluation {

struct LikelihoodResult {
  double nats_per_token = 0;  ///< AR: exact; diffusion: an upper bound (negative ELBO)
  double standard_error = 0;  ///< over rows, each one observation; 0 of a single row
  int64_t tokens = 0, rows = 0;
  std::optional<double> bits_per_byte;
};

/// How a masked-diffusion bound is estimated.
struct LikelihoodOptions {
  config::ObjectiveOptions objective;
  int64_t mask_token = -1;
  int64_t num_draws = 8;  ///< maskings of each row, with stratified counts; AR: one exact pass
  uint64_t seed = 0;
};

/// Mean negative log-likelihood of rows in nats per token. Diffusion: draw j of row r masks exactly k of its
/// L positions at random, k = ceil(u L) with u = frac(u_r + j / num_draws), and scores L / k x the sum of
/// cross-entropies: unbiased for the bound, with less variance than independent masks (LLaDA, eq. 6). The
/// noise depends on (seed, sample number, draw) alone, so results compare between runs and batch sizes.
LikelihoodResult evaluate_likelihood(const models::LanguageModel& model, const data::RowReader& rows,
                                     const LikelihoodOptions& options);

/// nats / (ln 2) x tokens / bytes.
double bits_per_byte(double nats_per_token, int64_t tokens, int64_t bytes);

}  // namespace megadlm::evaluation
