#include "generation/samplers/diffusion.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "objectives/visibility.h"

namespace megadlm::generation {
namespace {

/// One run of the sampler over a canvas.
class Denoiser {
 public:
  Denoiser(const DiffusionModel& model, const at::Tensor& canvas, const DiffusionSettings& settings,
           const StepCallback& callback)
      : model_(model),
        settings_(settings),
        callback_(callback),
        canvas_(canvas.clone()),
        given_(canvas.ne(settings.mask_token)) {
    banned_.ids = {settings.mask_token};
    banned_.vocab_size = model.vocab_size;
  }

  at::Tensor run() {
    const at::Tensor columns = given_.logical_not().any(0).nonzero().squeeze(1);
    if (columns.numel() == 0) return canvas_;
    const int64_t begin = columns[0].item<int64_t>(), end = columns[-1].item<int64_t>() + 1;
    const int64_t length = settings_.block_length > 0 ? settings_.block_length : end - begin;
    const int64_t blocks = (end - begin + length - 1) / length;
    const int64_t steps = settings_.steps > 0 ? settings_.steps : end - begin;
    base::require(steps >= blocks, "--steps {}: there are {} blocks of {} tokens, and each needs a step",
                  steps, blocks, length);
    total_steps_ = steps;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t block_steps = steps / blocks + (block < steps % blocks ? 1 : 0);
      fill_block(begin + block * length, std::min(begin + (block + 1) * length, end), block_steps);
      finish_rows();
    }
    return canvas_;
  }

 private:
  int64_t rows() const { return canvas_.size(0); }

  void fill_block(int64_t begin, int64_t end, int64_t steps) {
    std::vector<std::vector<int64_t>> schedules;
    size_t longest = 0;
    for (int64_t row = 0; row < rows(); ++row) {
      const auto masked = canvas_[row].slice(0, begin, end).eq(settings_.mask_token).sum().item<int64_t>();
      schedules.push_back(commit_schedule(masked, steps));
      longest = std::max(longest, schedules.back().size());
    }
    for (size_t step = 0; step < longest; ++step) {
      std::vector<int64_t> quotas;
      for (const auto& schedule : schedules) quotas.push_back(step < schedule.size() ? schedule[step] : 0);
      commit(begin, end, quotas);
    }
  }

  /// Drafts the masked positions of [begin, end) and commits each row's best.
  void commit(int64_t begin, int64_t end, const std::vector<int64_t>& quotas) {
    const at::Tensor masked = canvas_.slice(1, begin, end).eq(settings_.mask_token).nonzero();
    DrawKeys keys;
    keys.step = step_;
    keys.seed = settings_.seed;
    for (int64_t i = 0; i < masked.size(0); ++i) {
      keys.row.push_back(masked[i][0].item<int64_t>());
      keys.position.push_back(masked[i][1].item<int64_t>() + begin);
    }
    const at::Tensor flat = masked.select(1, 0) * canvas_.size(1) + masked.select(1, 1) + begin;
    const Draft draft =
        draft_tokens(guided_logits(flat), banned_, settings_.temperature, settings_.remasking, keys);
    at::Tensor committed = at::zeros_like(canvas_, at::kBool);
    const at::Tensor scores = draft.scores.contiguous(), tokens = draft.tokens.contiguous();
    std::vector<int64_t> order(keys.row.size());
    std::iota(order.begin(), order.end(), 0);
    const double* score = scores.const_data_ptr<double>();
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score[a] > score[b]; });
    std::vector<int64_t> left = quotas;
    for (const int64_t i : order) {
      const int64_t row = keys.row[i], position = keys.position[i];
      if (left[row]-- <= 0) continue;
      canvas_[row][position] = tokens[i];
      committed[row][position] = true;
    }
    ++step_;
    if (callback_) callback_({step_, total_steps_, canvas_, committed});
  }

  at::Tensor guided_logits(const at::Tensor& positions) const {
    const at::Tensor conditional = model_.logits(canvas_, positions);
    if (settings_.cfg_scale == 0) return conditional;
    const at::Tensor unconditional =
        model_.logits(canvas_.masked_fill(given_, settings_.mask_token), positions);
    return unconditional + (settings_.cfg_scale + 1) * (conditional - unconditional);
  }

  /// Fills what follows a row's end where nothing masked stands before it.
  void finish_rows() {
    if (!settings_.eod_token) return;
    for (int64_t row = 0; row < rows(); ++row) {
      at::Tensor tokens = canvas_[row];
      const at::Tensor generated_end =
          tokens.eq(*settings_.eod_token).logical_and(given_[row].logical_not()).nonzero();
      if (generated_end.numel() == 0) continue;
      const int64_t end = generated_end[0][0].item<int64_t>();
      if (tokens.slice(0, 0, end).eq(settings_.mask_token).any().item<bool>()) continue;
      at::Tensor rest = tokens.slice(0, end);
      rest.masked_fill_(given_[row].slice(0, end).logical_not(), *settings_.eod_token);
    }
  }

  const DiffusionModel& model_;
  const DiffusionSettings& settings_;
  const StepCallback& callback_;
  at::Tensor canvas_;
  at::Tensor given_;  ///< positions that were not masked at the start
  BannedIds banned_;
  int64_t step_ = 0, total_steps_ = 0;
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
