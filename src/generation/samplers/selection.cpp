#include "generation/samplers/selection.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace megadlm::generation {
namespace {

/// Counter of a random number: rows and steps share the 64 bits.
uint64_t key_of(int64_t row, int64_t step) {
  return (static_cast<uint64_t>(row) << 32) | static_cast<uint64_t>(step);
}

/// Gumbel noise [n, V] keyed by (row, step, position x V + id).
at::Tensor gumbel_noise(int64_t columns, const DrawKeys& keys) {
  const base::Random random(keys.seed, base::RandomStream::generation_token);
  const auto count = static_cast<int64_t>(keys.row.size());
  at::Tensor noise = at::empty({count, columns}, at::kDouble);
  double* values = noise.mutable_data_ptr<double>();
  const auto fill_row = [&](int64_t i) {
    const uint64_t key = key_of(keys.row[i], keys.step);
    for (int64_t column = 0; column < columns; column += 2) {
      const auto words = random.block(key, static_cast<uint64_t>(keys.position[i] * columns + column));
      for (int64_t k = 0; k < 2 && column + k < columns; ++k) {
        const uint64_t bits = (uint64_t{words[2 * k]} << 32) | words[2 * k + 1];
        const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
        values[i * columns + column + k] = -std::log(-std::log(uniform));
      }
    }
  };
  at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fill_row(i);
  });
  return noise;
}

at::Tensor uniform_scores(const DrawKeys& keys) {
  const base::Random random(keys.seed, base::RandomStream::generation_order);
  at::Tensor scores = at::empty({static_cast<int64_t>(keys.row.size())}, at::kDouble);
  double* values = scores.mutable_data_ptr<double>();
  for (size_t i = 0; i < keys.row.size(); ++i) {
    values[i] =
        random.uniform_double(key_of(keys.row[i], keys.step), static_cast<uint64_t>(keys.position[i]));
  }
  return scores;
}

/// `drawn` [n, 1]: the logits of the drawn tokens. argmax prefers what is no number, so one tells of a row.
void require_finite(const at::Tensor& drawn, const DrawKeys& keys) {
  const at::Tensor bad = drawn.squeeze(1).isfinite().logical_not_().nonzero();
  if (bad.numel() == 0) return;
  const auto i = bad[0][0].item<int64_t>();
  base::fail(
      "no token can be drawn at position {} of row {}: the model gives no finite logit to an id that is "
      "allowed",
      keys.position[i], keys.row[i]);
}

}  // namespace

Draft draft_tokens(const at::Tensor& logits, const BannedIds& banned, double temperature,
                   config::Remasking remasking, const DrawKeys& keys) {
  at::Tensor allowed = logits.slice(1, 0, banned.vocab_size).to(at::kDouble).clone();
  for (const int64_t id : banned.ids) {
    if (id < banned.vocab_size) allowed.select(1, id).fill_(-std::numeric_limits<double>::infinity());
  }
  Draft draft;
  // The noise is scaled, not the logits, which a tiny temperature would send to infinity.
  draft.tokens =
      (temperature == 0 ? allowed : allowed + temperature * gumbel_noise(allowed.size(1), keys)).argmax(1);
  require_finite(allowed.gather(1, draft.tokens.unsqueeze(1)), keys);
  if (remasking == config::Remasking::random) {
    draft.scores = uniform_scores(keys);
    return draft;
  }
  const at::Tensor probabilities = at::softmax(allowed, 1);
  switch (remasking) {
    case config::Remasking::entropy:
      draft.scores = at::xlogy(probabilities, probabilities).sum(1);
      break;
    case config::Remasking::margin: {
      const at::Tensor best = std::get<0>(probabilities.topk(2, 1));
      draft.scores = best.select(1, 0) - best.select(1, 1);
      break;
    }
    default:
      draft.scores = probabilities.gather(1, draft.tokens.unsqueeze(1)).squeeze(1);
  }
  return draft;
}

std::vector<int64_t> commit_schedule(int64_t masked, int64_t steps) {
  std::vector<int64_t> schedule;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t count = masked / steps + (step < masked % steps ? 1 : 0);
    if (count > 0) schedule.push_back(count);
  }
  return schedule;
}

}  // namespace megadlm::generation
