#include "generation/samplers/diffusion.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "objectives/visibility.h"

namespace megadlm::generation {
namespace {

/// A stretch of a row, and how many of its masked positions each step commits.
struct Block {
  int64_t begin, end;
  std::vector<int64_t> quotas;
};

/// What is left to do in a row.
struct RowPlan {
  std::vector<Block> blocks;
  size_t block = 0, step = 0;  ///< the next step is blocks[block].quotas[step]

  bool finished() const { return block == blocks.size(); }
  int64_t quota() const { return blocks[block].quotas[step]; }
  void advance() {
    if (++step < blocks[block].quotas.size()) return;
    step = 0;
    ++block;
  }
};

/// Blocks of the row `ids` [s], each with its share of the steps.
RowPlan plan_row(const at::Tensor& ids, const DiffusionSettings& settings) {
  const at::Tensor masked = ids.eq(settings.mask_token);
  const at::Tensor places = masked.nonzero().squeeze(1);
  RowPlan plan;
  if (places.numel() == 0) return plan;
  const int64_t begin = places[0].item<int64_t>(), end = places[-1].item<int64_t>() + 1;
  const int64_t length = settings.block_length > 0 ? settings.block_length : end - begin;
  std::vector<int64_t> counts;
  for (int64_t at = begin; at < end; at += length) {
    const int64_t stop = std::min(at + length, end);
    const auto count = masked.slice(0, at, stop).sum().item<int64_t>();
    if (count == 0) continue;
    plan.blocks.push_back({at, stop, {}});
    counts.push_back(count);
  }
  const auto blocks = static_cast<int64_t>(counts.size());
  const int64_t steps = settings.steps > 0 ? settings.steps : places.numel();
  base::require(steps >= blocks, "--steps {}: there are {} blocks of {} tokens, and each needs a step", steps,
                blocks, length);
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t share = settings.steps > 0 ? steps / blocks + (i < steps % blocks ? 1 : 0) : counts[i];
    plan.blocks[i].quotas = commit_schedule(counts[i], share);
  }
  return plan;
}

/// One run of the sampler over a canvas.
class Denoiser {
 public:
  Denoiser(const DiffusionModel& model, const at::Tensor& canvas, const DiffusionSettings& settings,
           const StepCallback& callback)
      : model_(model),
        settings_(settings),
        callback_(callback),
        canvas_(canvas.clone(at::MemoryFormat::Contiguous)),
        given_(canvas.ne(settings.mask_token)) {
    banned_.ids = settings.banned;
    banned_.ids.push_back(settings.mask_token);
    banned_.vocab_size = model.vocab_size;
    for (int64_t row = 0; row < canvas_.size(0); ++row) {
      plans_.push_back(plan_row(canvas_[row], settings));
      int64_t steps = 0;
      for (const Block& block : plans_.back().blocks) steps += static_cast<int64_t>(block.quotas.size());
      total_steps_ = std::max(total_steps_, steps);
    }
  }

  at::Tensor run() {
    while (!finished()) take_step();
    return canvas_;
  }

 private:
  bool finished() const {
    return std::all_of(plans_.begin(), plans_.end(), [](const RowPlan& plan) { return plan.finished(); });
  }

  void take_step() {
    const at::Tensor before = canvas_.clone();
    commit(masked_places());
    for (size_t row = 0; row < plans_.size(); ++row) {
      if (plans_[row].finished()) continue;
      plans_[row].advance();
      finish_if_ended(static_cast<int64_t>(row));
    }
    ++step_;
    if (callback_) callback_({step_, total_steps_, canvas_, canvas_.ne(before), finished()});
  }

  /// The masked positions of each row's block.
  DrawKeys masked_places() const {
    DrawKeys places;
    places.step = step_;
    places.seed = settings_.seed;
    const int64_t* ids = canvas_.const_data_ptr<int64_t>();
    for (size_t row = 0; row < plans_.size(); ++row, ids += canvas_.size(1)) {
      if (plans_[row].finished()) continue;
      const Block& block = plans_[row].blocks[plans_[row].block];
      for (int64_t i = block.begin; i < block.end; ++i) {
        if (ids[i] != settings_.mask_token) continue;
        places.row.push_back(settings_.first_row + static_cast<int64_t>(row));
        places.position.push_back(i);
      }
    }
    return places;
  }

  /// Drafts the masked positions and commits each row's best.
  void commit(const DrawKeys& places) {
    const auto count = static_cast<int64_t>(places.row.size());
    at::Tensor flat = at::empty({count}, at::kLong);
    int64_t* flat_ids = flat.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < count; ++i) {
      flat_ids[i] = (places.row[i] - settings_.first_row) * canvas_.size(1) + places.position[i];
    }
    const Draft draft =
        draft_tokens(guided_logits(flat), banned_, settings_.temperature, settings_.remasking, places);
    const at::Tensor contiguous_scores = draft.scores.contiguous();
    const double* scores = contiguous_scores.const_data_ptr<double>();
    const int64_t* tokens = draft.tokens.const_data_ptr<int64_t>();
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    std::vector<int64_t> left;
    for (const RowPlan& plan : plans_) left.push_back(plan.finished() ? 0 : plan.quota());
    int64_t* ids = canvas_.mutable_data_ptr<int64_t>();
    for (const int64_t i : order) {
      if (left[places.row[i] - settings_.first_row]-- > 0) ids[flat_ids[i]] = tokens[i];
    }
  }

  /// In single precision: the difference of two logits that are nearly equal is what guides.
  at::Tensor guided_logits(const at::Tensor& positions) const {
    const at::Tensor conditional = model_.logits(canvas_, positions);
    if (settings_.cfg_scale == 0) return conditional;
    const at::Tensor unconditional =
        model_.logits(canvas_.masked_fill(given_, settings_.mask_token), positions).to(at::kFloat);
    return unconditional + (settings_.cfg_scale + 1) * (conditional.to(at::kFloat) - unconditional);
  }

  /// Fills what follows a row's drawn end token where nothing masked stands before it.
  void finish_if_ended(int64_t row) {
    if (!settings_.eod_token) return;
    at::Tensor tokens = canvas_[row];
    const at::Tensor drawn = given_[row].logical_not();
    const at::Tensor ends = tokens.eq(*settings_.eod_token).logical_and_(drawn).nonzero();
    if (ends.numel() == 0) return;
    const int64_t end = ends[0][0].item<int64_t>();
    if (tokens.slice(0, 0, end).eq(settings_.mask_token).any().item<bool>()) return;
    tokens.slice(0, end).masked_fill_(drawn.slice(0, end), *settings_.eod_token);
    plans_[row].block = plans_[row].blocks.size();
  }

  const DiffusionModel& model_;
  const DiffusionSettings& settings_;
  const StepCallback& callback_;
  at::Tensor canvas_;
  at::Tensor given_;  ///< positions that were not masked at the start
  BannedIds banned_;
  std::vector<RowPlan> plans_;
  int64_t step_ = 0;  ///< of every row that is not finished: each takes part in each step
  int64_t total_steps_ = 0;
};

}  // namespace

DiffusionModel diffusion_model(const models::LanguageModel& model,
                               const config::ObjectiveOptions& objective) {
  const bool shifted = objective.model_running_mode == config::RunningMode::diffusion_shifted;
  const auto visibility = objectives::training_visibility(objective);
  DiffusionModel result;
  result.vocab_size = model.architecture().vocab_size;
  result.logits = [&model, shifted, visibility](const at::Tensor& canvas, const at::Tensor& positions) {
    const at::Tensor hidden = model.hidden({canvas, {}, visibility, nullptr}).flatten(0, 1);
    // Position 0 of a row has no output before it and takes its own.
    const at::Tensor first = positions.remainder(canvas.size(1)).eq(0);
    const at::Tensor outputs = shifted ? at::where(first, positions, positions - 1) : positions;
    return model.logits(hidden.index_select(0, outputs));
  };
  return result;
}

at::Tensor denoise(const DiffusionModel& model, const at::Tensor& canvas, const DiffusionSettings& settings,
                   const StepCallback& callback) {
  const at::NoGradGuard no_gradient;
  return Denoiser(model, canvas, settings, callback).run();
}

}  // namespace megadlm::generation
