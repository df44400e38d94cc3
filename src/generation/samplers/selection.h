#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "config/options/generation.h"

namespace megadlm::generation {

/// Which ids may not be drawn: the mask token, the padding of the vocabulary, others by choice.
struct BannedIds {
  std::vector<int64_t> ids;
  int64_t vocab_size = 0;  ///< columns from here on are padding
};

/// Drafts for masked positions.
struct Draft {
  at::Tensor tokens;  ///< [n] i64
  at::Tensor scores;  ///< [n] f64: the higher, the sooner a position is committed
};

/// Where each of the n positions stands, so that random numbers do not depend on the batch.
struct DrawKeys {
  std::vector<int64_t> row, position;
  int64_t step = 0;
  uint64_t seed = 0;
};

/// Draws a token for each row of `logits` [n, V] and scores it. Banned ids get -inf before anything else.
/// Token: argmax of logit + temperature x Gumbel noise (LLaDA's argmax of exp(l) / (-log U)^T, in log space
/// and double); temperature 0: the greatest logit. Score by `remasking`: probability of the drawn token under
/// the noise-free soft maximum, a uniform number, sum of p log p, or the gap between the two likeliest. An
/// Error names a position where no allowed id has a finite logit.
Draft draft_tokens(const at::Tensor& logits, const BannedIds& banned, double temperature,
                   config::Remasking remasking, const DrawKeys& keys);

/// How many of `masked` positions each of `steps` steps commits: masked / steps each, and one more in the
/// first masked % steps. Steps that would commit none are left out.
std::vector<int64_t> commit_schedule(int64_t masked, int64_t steps);

}  // namespace megadlm::generation
