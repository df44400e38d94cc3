#include "training/loop/loop.h"

#include <chrono>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "training/loop/signals.h"

namespace megadlm::training {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool divides(const std::optional<int64_t>& interval, int64_t iteration) {
  return interval && iteration % *interval == 0;
}

}  // namespace

TrainingLoop::TrainingLoop(TrainStep& step, const optim::LearningRateSchedule& schedule,
                           const config::TrainingOptions& training,
                           const config::CheckpointOptions& checkpoint, const config::LoggingOptions& logging,
                           SpeedModel speed, LoopHooks hooks, TrainingState& state)
    : step_(step),
      schedule_(schedule),
      training_(training),
      checkpoint_(checkpoint),
      logging_(logging),
      speed_(std::move(speed)),
      hooks_(std::move(hooks)),
      state_(state) {}

int64_t TrainingLoop::total_iterations() const {
  if (training_.train_iters) return *training_.train_iters;
  if (training_.train_samples) return (*training_.train_samples - 1) / training_.global_batch_size + 1;
  return std::numeric_limits<int64_t>::max();
}

double TrainingLoop::elapsed_seconds() const { return now_seconds() - start_; }

double TrainingLoop::learning_rate() const {
  if (!training_.schedule_by_time) return schedule_.rate(state_.scheduled_samples);
  return schedule_.rate_by_time(state_.scheduled_samples,
                                elapsed_seconds() / (60 * training_.exit_duration_in_mins.value()));
}

std::vector<data::RowBatch> TrainingLoop::next_batch() const {
  std::vector<data::RowBatch> batches;
  for (int64_t begin = 0; begin < training_.global_batch_size; begin += training_.micro_batch_size) {
    std::vector<int64_t> samples(training_.micro_batch_size);
    std::iota(samples.begin(), samples.end(), state_.consumed_samples + begin);
    batches.push_back(hooks_.rows(samples, state_.iteration));
  }
  return batches;
}

void TrainingLoop::check_finite(const StepResult& result) {
  if (!result.non_finite) {
    consecutive_skips_ = 0;
    return;
  }
  const std::string what = fmt::format("iteration {}: {}", state_.iteration + 1, *result.non_finite);
  if (result.overflow) {
    ++state_.skipped_iterations;
    spdlog::info("{}; the step is skipped while a smaller loss scale is tried", what);
    return;
  }
  base::require(training_.on_non_finite == config::OnNonFinite::skip,
                "{}; nothing was updated (--on-non-finite stop)", what);
  ++state_.skipped_iterations;
  ++consecutive_skips_;
  base::require(consecutive_skips_ < training_.max_consecutive_skips,
                "{}; {} steps in a row were skipped (--max-consecutive-skips)", what, consecutive_skips_);
  spdlog::warn("{}; the step is skipped ({} so far)", what, state_.skipped_iterations);
}

void TrainingLoop::account(const StepResult& result) {
  ++state_.iteration;
  state_.consumed_samples += training_.global_batch_size;
  state_.consumed_tokens += result.tokens;
  ++window_.steps;
  window_.tokens += result.tokens;
  window_.flops += speed_.step_flops(result.tokens, result.head_tokens);
  if (result.non_finite) return;
  state_.scheduled_samples += training_.global_batch_size;
  ++window_.finite_steps;
  window_.loss += result.loss;
  window_.gradient_norm += result.gradient_norm;
}

void TrainingLoop::log_window(double learning_rate,
                              const std::optional<evaluation::LikelihoodResult>& evaluated) {
  const double seconds = now_seconds() - window_.start - window_.paused;
  const auto steps = static_cast<double>(std::max<int64_t>(window_.steps, 1));
  const auto finite_steps = static_cast<double>(std::max<int64_t>(window_.finite_steps, 1));
  StepMetrics metrics;
  metrics.iteration = state_.iteration;
  metrics.total_iterations = total_iterations();
  metrics.consumed_samples = state_.consumed_samples;
  metrics.consumed_tokens = state_.consumed_tokens;
  metrics.skipped_iterations = state_.skipped_iterations;
  metrics.loss = window_.loss / finite_steps;
  metrics.grad_norm = window_.gradient_norm / finite_steps;
  metrics.loss_scale = hooks_.loss_scale ? std::optional<double>(hooks_.loss_scale()) : std::nullopt;
  metrics.learning_rate = learning_rate;
  metrics.tokens_per_second = static_cast<double>(window_.tokens) / seconds;
  metrics.model_flops_per_second = window_.flops / seconds;
  metrics.mfu =
      speed_.peak_flops_per_second > 0 ? metrics.model_flops_per_second / speed_.peak_flops_per_second : 0;
  metrics.peak_memory_bytes = peak_memory_bytes();
  metrics.minor_faults_per_step = static_cast<double>(minor_faults() - window_.faults) / steps;
  if (training_.exit_duration_in_mins) {
    metrics.seconds_left = std::max(0.0, 60 * *training_.exit_duration_in_mins - elapsed_seconds());
  } else {
    metrics.seconds_left = static_cast<double>(total_iterations() - state_.iteration) * seconds / steps;
  }
  if (evaluated) {
    metrics.valid_loss = evaluated->nats_per_token;
    metrics.valid_loss_stderr = evaluated->standard_error;
    metrics.valid_bits_per_byte = evaluated->bits_per_byte;
  }
  hooks_.log(metrics);
  window_ = {.start = now_seconds(), .faults = minor_faults()};
}

std::optional<std::string> TrainingLoop::stop_reason() const {
  if (const char* signal = StopSignals::received()) return fmt::format("{} arrived", signal);
  if (state_.iteration >= total_iterations()) return "training is complete";
  const bool stepped = state_.iteration > first_iteration_;
  if (stepped && divides(training_.exit_interval, state_.iteration)) return "--exit-interval is reached";
  if (training_.exit_duration_in_mins && elapsed_seconds() >= 60 * *training_.exit_duration_in_mins) {
    return "--exit-duration-in-mins is over";
  }
  return std::nullopt;
}

void TrainingLoop::run() {
  const StopSignals signals;
  start_ = now_seconds();
  first_iteration_ = state_.iteration;
  window_ = {.start = start_, .faults = minor_faults()};
  int64_t saved_at = -1;
  const auto save = [&] {
    if (!hooks_.save || saved_at == state_.iteration) return;
    const double before = now_seconds();
    hooks_.save();
    saved_at = state_.iteration;
    window_.paused += now_seconds() - before;
  };
  const int64_t total = total_iterations();
  base::Progress progress("iteration", total == std::numeric_limits<int64_t>::max() ? 0 : total, "steps",
                          false);
  std::optional<std::string> reason;
  while (!(reason = stop_reason())) {
    const double rate = learning_rate();
    const StepResult result = step_.run(next_batch(), rate);
    if (result.non_finite) progress.clear();
    check_finite(result);
    account(result);
    progress.update(state_.iteration, fmt::format("loss {:.3f}", result.loss));

    const bool last = stop_reason().has_value();
    std::optional<evaluation::LikelihoodResult> evaluated;
    if (hooks_.evaluate && training_.eval_iters > 0 &&
        (last || state_.iteration % training_.eval_interval == 0)) {
      const double before = now_seconds();
      evaluated = hooks_.evaluate();
      window_.paused += now_seconds() - before;
    }
    const bool logs = last || evaluated || state_.iteration % logging_.log_interval == 0;
    const bool saves = divides(checkpoint_.save_interval, state_.iteration);
    if (logs || saves) progress.clear();
    if (logs) log_window(rate, evaluated);
    if (saves) save();
  }
  spdlog::info("{} at iteration {}", *reason, state_.iteration);
  save();
}

}  // namespace megadlm::training
