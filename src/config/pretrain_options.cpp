
#include <string>
#include <vector>

#include "base/error.h"
#include "config/parser.h"
#include "config/pretrain_options.h"

namespace megadlm::config {
namespace {

class Problems {
 public:
  template <class... Args>
  void add_if(bool wrong, fmt::format_string<Args...> format, Args&&... args) {
    if (wrong) texts_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  void add_missing(bool missing, const char* flag) {
    if (missing) missing_.emplace_back(flag);
  }
  void raise() const {
    std::vector<std::string> all = texts_;
    if (!missing_.empty()) {
      all.insert(all.begin(), fmt::format("{} {} missing", fmt::join(missing_, ", "),
                                          missing_.size() == 1 ? "is" : "are"));
    }
    if (all.size() == 1) throw base::Error(all.front(), 2);
    if (!all.empty()) base::fail_usage("{} problems\n  {}", all.size(), fmt::join(all, "\n  "));
  }

 private:
  std::vector<std::string> texts_, missing_;
};

bool trains(const TrainingOptions& training) { return !training.dry_run && !training.init_checksum; }

void check_model_and_data(const PretrainOptions& options, Problems& problems) {
  const Architecture& model = options.model;
  const TokenizerOptions& tokenizer = options.tokenizer;
  const DataOptions& data = options.data;
  const TrainingOptions& training = options.training;
  const bool shape_from_file = !training.init_from.empty();
  problems.add_missing(!shape_from_file && model.num_layers == 0, "--num-layers");
  problems.add_missing(!shape_from_file && model.hidden_size == 0, "--hidden-size");
  problems.add_missing(!shape_from_file && model.num_attention_heads == 0, "--num-attention-heads");
  problems.add_missing(data.seq_length == 0, "--seq-length");

  const bool data_given = !data.data_path.empty();
  problems.add_missing(trains(training) && !data_given && !data.mock_data, "--data-path (or --mock-data)");
  problems.add_if(data_given && data.mock_data, "--data-path and --mock-data: one of the two is accepted");
  problems.add_if(!data.valid_data_path.empty() && !data_given, "--valid-data-path needs --data-path");

  const bool null = tokenizer.tokenizer_type == TokenizerType::null;
  problems.add_missing(null && tokenizer.vocab_size == 0, "--vocab-size (of the NullTokenizer)");
  problems.add_if(null && !tokenizer.tokenizer_model.empty(),
                  "--tokenizer-model: the NullTokenizer has no file");
  const bool file_missing = !null && tokenizer.tokenizer_model.empty();
  problems.add_missing(file_missing && (trains(training) || tokenizer.vocab_size == 0),
                       trains(training) ? "--tokenizer-model" : "--tokenizer-model (or --vocab-size)");
}

void check_objective(const PretrainOptions& options, Problems& problems) {
  const ObjectiveOptions& objective = options.objective;
  if (objective.diffusion()) return;
  const AttentionMaskType mask = objective.attention_mask_type;
  problems.add_if(
      mask == AttentionMaskType::full || mask == AttentionMaskType::block_causal,
      "--attention-mask-type {}: an autoregressive model would see the tokens that it predicts; give causal "
      "or auto, or a difflm --model-running-mode",
      name_of(mask));
  problems.add_if(objective.difflm_varilen_prob > 0,
                  "--difflm-varilen-prob {} needs a difflm --model-running-mode",
                  objective.difflm_varilen_prob);
}

void check_batch_and_length(const TrainingOptions& training, Problems& problems) {
  const int64_t micro = training.micro_batch_size, global = training.global_batch_size;
  problems.add_if(global != 0 && global % micro != 0,
                  "--micro-batch-size {} does not divide --global-batch-size {}", micro, global);
  const bool length = training.train_iters || training.train_samples;
  problems.add_if(training.train_iters && training.train_samples,
                  "--train-iters {} and --train-samples {}: one of the two is accepted",
                  training.train_iters.value_or(0), training.train_samples.value_or(0));
  problems.add_missing(trains(training) && !length && !training.exit_duration_in_mins,
                       "--train-iters (or --train-samples, or --exit-duration-in-mins)");
  problems.add_if(training.schedule_by_time && !training.exit_duration_in_mins,
                  "--schedule-by-time needs --exit-duration-in-mins");
}

void check_precision(const PrecisionOptions& precision, Problems& problems) {
  problems.add_if(precision.bf16 && precision.fp16, "--bf16 and --fp16: one of the two is accepted");
  problems.add_if(precision.loss_scale && !precision.fp16, "--loss-scale {} needs --fp16",
                  precision.loss_scale.value_or(0));
  problems.add_if(precision.min_loss_scale > precision.initial_loss_scale,
                  "--min-loss-scale {} is above --initial-loss-scale {}", precision.min_loss_scale,
                  precision.initial_loss_scale);
}

void check_rates(const ScheduleOptions& schedule, const TrainingOptions& training, Problems& problems) {
  problems.add_missing(trains(training) && schedule.lr == 0, "--lr");
  if (schedule.lr == 0) return;
  problems.add_if(schedule.min_lr > schedule.lr, "--min-lr {} is above --lr {}", schedule.min_lr,
                  schedule.lr);
  problems.add_if(schedule.lr_warmup_init > schedule.lr, "--lr-warmup-init {} is above --lr {}",
                  schedule.lr_warmup_init, schedule.lr);
}

/// Lengths are either all in iterations or all in samples, as the training's length is.
void check_schedule_units(const ScheduleOptions& schedule, const TrainingOptions& training,
                          Problems& problems) {
  struct Length {
    const char* flag;
    bool given;
    bool samples;
  };
  const bool iterations = training.train_iters.has_value(), samples = training.train_samples.has_value();
  if (iterations == samples) return;
  for (const Length& length :
       {Length{"--lr-decay-iters", schedule.lr_decay_iters.has_value(), false},
        Length{"--lr-decay-samples", schedule.lr_decay_samples.has_value(), true},
        Length{"--lr-warmup-iters", schedule.lr_warmup_iters > 0, false},
        Length{"--lr-warmup-samples", schedule.lr_warmup_samples > 0, true},
        Length{"--lr-wsd-decay-iters", schedule.lr_wsd_decay_iters.has_value(), false},
        Length{"--lr-wsd-decay-samples", schedule.lr_wsd_decay_samples.has_value(), true}}) {
    problems.add_if(length.given && length.samples != samples, "{} does not go with {}: count both in {}",
                    length.flag, samples ? "--train-samples" : "--train-iters",
                    samples ? "samples" : "iterations");
  }
}

void check_schedule_pairs(const ScheduleOptions& schedule, Problems& problems) {
  problems.add_if(schedule.lr_decay_iters && schedule.lr_decay_samples,
                  "--lr-decay-iters and --lr-decay-samples: one of the two is accepted");
  const int warmups = int{schedule.lr_warmup_iters > 0} + int{schedule.lr_warmup_samples > 0} +
                      int{schedule.lr_warmup_fraction.has_value()};
  problems.add_if(
      warmups > 1,
      "--lr-warmup-iters, --lr-warmup-samples, --lr-warmup-fraction: one of the three is accepted");
  problems.add_if(schedule.lr_wsd_decay_iters && schedule.lr_wsd_decay_samples,
                  "--lr-wsd-decay-iters and --lr-wsd-decay-samples: one of the two is accepted");
}

/// Warm-up and the WSD schedule's last part lie inside the decay's length, where that is known.
void check_schedule_lengths(const ScheduleOptions& schedule, const TrainingOptions& training,
                            Problems& problems) {
  const auto check = [&](const char* unit, const std::optional<int64_t>& decay,
                         const std::optional<int64_t>& train, int64_t warmup,
                         const std::optional<int64_t>& tail) {
    const std::optional<int64_t> length = decay ? decay : train;
    if (!length) return;
    problems.add_if(warmup >= *length, "--lr-warmup-{0} {1} is not below the decay's length of {2} {0}", unit,
                    warmup, *length);
    problems.add_if(tail && *tail > *length, "--lr-wsd-decay-{0} {1} is above the decay's length of {2} {0}",
                    unit, tail.value_or(0), *length);
  };
  check("iters", schedule.lr_decay_iters, training.train_iters, schedule.lr_warmup_iters,
        schedule.lr_wsd_decay_iters);
  check("samples", schedule.lr_decay_samples, training.train_samples, schedule.lr_warmup_samples,
        schedule.lr_wsd_decay_samples);
}

/// Schedules that follow the clock, or that have no end.
void check_schedule_without_length(const ScheduleOptions& schedule, const TrainingOptions& training,
                                   Problems& problems) {
  const bool decay_length = schedule.lr_decay_iters || schedule.lr_decay_samples;
  const bool length = training.train_iters || training.train_samples || decay_length;
  const DecayStyle style = schedule.lr_decay_style;
  if (training.schedule_by_time) {
    problems.add_if(style != DecayStyle::linear && style != DecayStyle::cosine,
                    "--schedule-by-time: --lr-decay-style {} cannot follow the clock; linear and cosine can",
                    name_of(style));
    problems.add_if(decay_length,
                    "--schedule-by-time: the decay ends with the time, so that --lr-decay-{} has no effect",
                    schedule.lr_decay_iters ? "iters" : "samples");
  } else if (trains(training) && !length) {
    problems.add_if(
        style != DecayStyle::constant,
        "--lr-decay-style {} needs a length: --train-iters, --lr-decay-iters or --schedule-by-time",
        name_of(style));
  }
  problems.add_if(
      trains(training) && !length && schedule.lr_warmup_fraction,
      "--lr-warmup-fraction {} needs a length: --train-iters, --train-samples or --lr-decay-iters",
      schedule.lr_warmup_fraction.value_or(0));
}

void check_schedule(const ScheduleOptions& schedule, const TrainingOptions& training, Problems& problems) {
  check_rates(schedule, training, problems);
  check_schedule_units(schedule, training, problems);
  check_schedule_pairs(schedule, problems);
  check_schedule_lengths(schedule, training, problems);
  const bool wsd = schedule.lr_decay_style == DecayStyle::wsd;
  const bool tail = schedule.lr_wsd_decay_iters || schedule.lr_wsd_decay_samples;
  problems.add_if(wsd && !tail, "--lr-decay-style WSD needs --lr-wsd-decay-iters or --lr-wsd-decay-samples");
  problems.add_if(!wsd && tail, "--lr-wsd-decay-{} needs --lr-decay-style WSD",
                  schedule.lr_wsd_decay_iters ? "iters" : "samples");
  check_schedule_without_length(schedule, training, problems);
}

void check_checkpoints(const CheckpointOptions& checkpoint, Problems& problems) {
  const bool save = !checkpoint.save.empty(), load = !checkpoint.load.empty();
  problems.add_if(checkpoint.save_interval && !save, "--save-interval {} needs --save",
                  checkpoint.save_interval.value_or(0));
  problems.add_if(checkpoint.keep_last > 0 && !save, "--keep-last {} needs --save", checkpoint.keep_last);
  problems.add_if(checkpoint.no_save_optim && !save, "--no-save-optim needs --save");
  problems.add_if(checkpoint.no_load_optim && !load, "--no-load-optim needs --load");
  problems.add_if(checkpoint.finetune && !load, "--finetune needs --load");
}

}  // namespace

void PretrainOptions::add_to(Parser& parser) {
  parser.add(model);
  parser.add(tokenizer);
  parser.add(data);
  parser.add(objective);
  parser.add(training);
  parser.add(precision);
  parser.add(optimizer);
  parser.add(schedule);
  parser.add(checkpoint);
  parser.add(logging);
  parser.accept_megatron_options();
}

void PretrainOptions::validate() const {
  Problems problems;
  check_model_and_data(*this, problems);
  check_objective(*this, problems);
  check_batch_and_length(training, problems);
  check_precision(precision, problems);
  check_schedule(schedule, training, problems);
  check_checkpoints(checkpoint, problems);
  problems.raise();
}

}  // namespace megadlm::config
