#include "training/stages/pretrain.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "base/checksum.h"
#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "config/json.h"
#include "ops/gemm/probe.h"
#include "planner/memory/memory.h"
#include "planner/memory/report.h"
#include "precision/mixed/types.h"
#include "tokenizers/vocabulary.h"
#include "training/stages/initial_weights.h"
#include "training/stages/pretrain_data.h"
#include "training/stages/training_checkpoint.h"

namespace megadlm::training {
namespace {

/// The vocabulary's sizes; the tokenizer itself is not needed for mock data or a dry run.
tokenizers::Vocabulary choose_vocabulary(const config::PretrainOptions& options) {
  const bool needs_mask = options.objective.diffusion();
  const bool sizes_are_enough = options.training.dry_run || options.data.mock_data;
  if (sizes_are_enough && options.tokenizer.vocab_size > 0) {
    config::TokenizerOptions sizes = options.tokenizer;
    sizes.tokenizer_type = config::TokenizerType::null;
    return tokenizers::make_vocabulary(tokenizers::load_tokenizer(sizes), sizes, needs_mask);
  }
  return tokenizers::make_vocabulary(tokenizers::load_tokenizer(options.tokenizer), options.tokenizer,
                                     needs_mask);
}

config::Architecture choose_architecture(const config::PretrainOptions& options,
                                         const tokenizers::Vocabulary& vocabulary) {
  const std::string& folder = options.training.init_from;
  if (folder.empty()) {
    return config::resolve(options.model, options.data.seq_length, vocabulary.vocab_size,
                           vocabulary.padded_vocab_size);
  }
  const config::Architecture architecture = read_architecture(folder);
  base::require(
      vocabulary.vocab_size <= architecture.padded_vocab_size,
      "--init-from {}: its vocabulary of {} ids is smaller than the tokenizer's {} (mask token included)",
      folder, architecture.padded_vocab_size, vocabulary.vocab_size);
  return architecture;
}

planner::TrainingShape training_shape(const config::PretrainOptions& options) {
  planner::TrainingShape shape;
  shape.micro_batch_size = options.training.micro_batch_size;
  shape.global_batch_size = options.training.global_batch_size;
  shape.seq_length = options.data.seq_length;
  shape.precision = options.precision.precision();
  return shape;
}

/// A hash of all weights in the parameters' order.
std::string weights_checksum(std::vector<nn::Parameter>& parameters) {
  base::Checksum checksum;
  for (const nn::Parameter& parameter : parameters) {
    const at::Tensor weights = parameter.value.detach().to(at::kCPU).contiguous();
    checksum.update(parameter.name.data(), parameter.name.size());
    checksum.update(weights.const_data_ptr(), weights.nbytes());
  }
  return checksum.hex();
}

at::Device device_of(config::Device device) {
  if (device == config::Device::cpu) return at::kCPU;
  base::require(at::hasCUDA(), "--device cuda: this program was built without CUDA, or no device is there");
  return at::kCUDA;
}

/// The model with random weights, or those of --init-from, on the device.
std::unique_ptr<models::LanguageModel> initial_model(const config::Architecture& architecture,
                                                     const config::TrainingOptions& training) {
  auto model = models::make_decoder(architecture, static_cast<uint64_t>(training.seed));
  if (!training.init_from.empty()) load_weights(training.init_from, *model);
  model->to(device_of(training.device));
  return model;
}

/// One pre-training run: its parts, in the order in which they are made.
class Pretraining {
 public:
  Pretraining(config::PretrainOptions options, std::string config_yaml, tokenizers::Vocabulary vocabulary,
              const config::Architecture& architecture)
      : options_(std::move(options)),
        config_yaml_(std::move(config_yaml)),
        vocabulary_(std::move(vocabulary)),
        objective_(
            objectives::make_objective(options_.objective, vocabulary_.mask_token.value_or(-1), seed())),
        data_(options_.data, options_.training, vocabulary_, objective_->extra_tokens()),
        model_(initial_model(architecture, options_.training)),
        optimizer_(model_->parameters(), options_.optimizer,
                   precision::compute_type(options_.precision.precision())),
        scaler_(options_.precision) {}

  void run() {
    load();
    TrainStep step(*model_, *objective_, optimizer_, scaler_);
    const auto& training = options_.training;
    const int64_t samples = training.train_samples
                                ? *training.train_samples
                                : training.train_iters.value_or(0) * training.global_batch_size;
    const optim::LearningRateSchedule schedule(options_.schedule, training.global_batch_size, samples);
    TrainingLoop loop(step, schedule, training, options_.checkpoint, options_.logging, speed_model(), hooks(),
                      state_);
    loop.run();
  }

 private:
  uint64_t seed() const { return static_cast<uint64_t>(options_.training.seed); }
  TrainingParts parts() { return {*model_, optimizer_, scaler_, state_}; }

  void load() {
    const config::CheckpointOptions& checkpoint = options_.checkpoint;
    if (checkpoint.load.empty()) return;
    const auto folder = checkpoint::find_checkpoint(checkpoint.load);
    if (!folder) {
      spdlog::warn("--load {}: there is no checkpoint; training starts fresh", checkpoint.load);
      return;
    }
    restore_snapshot(*folder, !checkpoint.no_load_optim, !checkpoint.finetune, parts());
    spdlog::info("loaded {}: iteration {}, {} samples", folder->string(), state_.iteration,
                 state_.consumed_samples);
  }

  /// What a user of the weights must know beside their shapes.
  nlohmann::json description() const {
    config::ObjectiveOptions objective = options_.objective;
    nlohmann::json json = {{"seq_length", options_.data.seq_length},
                           {"vocab_size", vocabulary_.vocab_size},
                           {"precision", precision::name(options_.precision.precision())},
                           {"objective", config::values_to_json(config::describe_group(objective))}};
    if (vocabulary_.mask_token) json["mask_token"] = *vocabulary_.mask_token;
    if (vocabulary_.eod_token) json["eod_token"] = *vocabulary_.eod_token;
    return json;
  }

  void save() {
    std::map<std::string, std::string> files;
    if (vocabulary_.tokenizer) files["tokenizer.json"] = vocabulary_.tokenizer->to_json();
    checkpoint::save_checkpoint(
        options_.checkpoint.save, state_.iteration,
        take_snapshot(parts(), !options_.checkpoint.no_save_optim, description(), config_yaml_, files),
        options_.checkpoint.keep_last);
    spdlog::info("saved iteration {} to {}", state_.iteration, options_.checkpoint.save);
  }

  evaluation::LikelihoodResult evaluate() {
    evaluation::LikelihoodOptions options;
    options.objective = options_.objective;
    options.mask_token = vocabulary_.mask_token.value_or(-1);
    options.num_draws = kValidationDraws;
    options.seed = seed();
    auto result = evaluation::evaluate_likelihood(*model_, data_.validation_rows(), options);
    if (const auto bytes_per_token = data_.validation_bytes_per_token()) {
      result.bits_per_byte = result.nats_per_token / std::numbers::ln2 / *bytes_per_token;
    }
    return result;
  }

  SpeedModel speed_model() const {
    const config::Architecture architecture = model_->architecture();
    const int64_t seq_length = options_.data.seq_length;
    SpeedModel speed;
    speed.step_flops = [=](int64_t tokens, int64_t head_tokens) {
      return config::training_flops(architecture, tokens / seq_length, seq_length,
                                    static_cast<double>(head_tokens));
    };
    const bool on_device = options_.training.device != config::Device::cpu;
    speed.peak_flops_per_second =
        ops::measure_gemm_flops(precision::compute_type(options_.precision.precision()),
                                on_device ? 8192 : 2048, device_of(options_.training.device));
    spdlog::info("GEMM peak of this machine: {:.0f} GFLOP/s", speed.peak_flops_per_second / 1e9);
    return speed;
  }

  LoopHooks hooks() {
    LoopHooks hooks;
    hooks.rows = [this](const std::vector<int64_t>& samples, int64_t batch) {
      return data_.training_rows(samples, batch);
    };
    if (data_.has_validation()) hooks.evaluate = [this] { return evaluate(); };
    if (!options_.checkpoint.save.empty()) hooks.save = [this] { save(); };
    auto writer = std::make_shared<MetricsWriter>(options_.checkpoint.save, options_.logging.tensorboard_dir,
                                                  state_.iteration);
    hooks.log = [writer](const StepMetrics& metrics) {
      spdlog::info("{}", format_log_line(metrics));
      writer->write(metrics);
    };
    if (options_.precision.fp16) hooks.loss_scale = [this] { return scaler_.scale(); };
    return hooks;
  }

  static constexpr int64_t kValidationDraws = 4;

  config::PretrainOptions options_;
  std::string config_yaml_;
  tokenizers::Vocabulary vocabulary_;
  std::unique_ptr<objectives::Objective> objective_;
  PretrainData data_;
  std::unique_ptr<models::LanguageModel> model_;
  optim::AdamW optimizer_;
  precision::LossScaler scaler_;
  TrainingState state_;
};

/// A launcher that starts several processes would have each train the same model on its own.
void refuse_several_processes() {
  for (const char* name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && std::string(value) != "1") {
      base::fail_usage("{}={}: training runs in one process; start it without mpirun, srun or torchrun", name,
                       value);
    }
  }
}

}  // namespace

int pretrain(config::PretrainOptions options, const std::string& config_yaml) {
  refuse_several_processes();
  base::start_logging(options.logging.log_level);
  options.validate();
  if (options.training.global_batch_size == 0)
    options.training.global_batch_size = options.training.micro_batch_size;
  if (options.training.num_threads > 0) at::set_num_threads(static_cast<int>(options.training.num_threads));
  const tokenizers::Vocabulary vocabulary = choose_vocabulary(options);
  const config::Architecture architecture = choose_architecture(options, vocabulary);
  if (options.training.dry_run) {
    fmt::print("{}", planner::dry_run_report(architecture, training_shape(options),
                                             options.objective.diffusion() ? 0.5 : 1.0,
                                             base::machine_memory_bytes(), config_yaml));
    return 0;
  }
  if (options.training.init_checksum) {
    const auto model = initial_model(architecture, options.training);
    fmt::print("{}\n", weights_checksum(model->parameters()));
    return 0;
  }
  planner::check_memory(planner::estimate_memory(architecture, training_shape(options)),
                        base::machine_memory_bytes());
  Pretraining(std::move(options), config_yaml, vocabulary, architecture).run();
  return 0;
}

}  // namespace megadlm::training
