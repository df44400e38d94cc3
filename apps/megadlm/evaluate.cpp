#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "commands.h"
#include "config/options/generation.h"
#include "config/parser.h"
#include "data/documents/document_reader.h"
#include "data/preprocess/preprocess.h"
#include "evaluation/likelihood/likelihood.h"
#include "training/stages/load_model.h"

namespace megadlm::apps {
namespace {

/// The held-out pair in rows, without shuffling. Where a row's first token cannot be scored, rows share a
/// token with the one before, so that each token but the very first counts once.
data::RowReader open_rows(const config::EvaluationOptions& options, const training::LoadedModel& loaded) {
  const auto dataset = std::make_shared<const data::IndexedDataset>(options.data_path);
  const auto mode = loaded.objective.model_running_mode;
  const int64_t length = options.seq_length > 0 ? options.seq_length : loaded.seq_length;
  const int64_t positions = loaded.model->architecture().max_position_embeddings;
  base::require(length <= positions, "--seq-length {}: the model has {} positions", length, positions);
  data::SampleShape shape;
  shape.documents = {0, dataset->num_documents()};
  shape.seq_length = length;
  if (mode == config::RunningMode::autoregressive) shape.extra_tokens = 1;
  if (mode == config::RunningMode::diffusion_shifted) {
    // The shared token is one of the row's `length`: the model may not see more.
    base::require(length > 1, "--seq-length {}: a shifted model's rows need at least 2 tokens", length);
    shape.seq_length = length - 1;
    shape.extra_tokens = 1;
  }
  data::RowOptions rows;
  rows.vocab_size = loaded.vocabulary.vocab_size;
  return data::sequential_rows(dataset, shape, rows, options.batch_size, 0);
}

}  // namespace

int evaluate_command(const std::vector<std::string>& arguments) {
  config::EvaluationOptions options;
  config::Parser parser("evaluate", "Measure a model's likelihood of held-out text.");
  parser.add(options);
  if (!parser.parse(arguments)) return 0;
  base::start_logging();
  if (options.load.empty()) base::fail_usage("--load is missing: a folder of checkpoints");
  if (options.data_path.empty()) base::fail_usage("--data-path is missing: the prefix of a .bin/.idx pair");
  if (options.num_threads > 0) at::set_num_threads(static_cast<int>(options.num_threads));
  const training::LoadedModel loaded = training::load_model(options.load);

  evaluation::LikelihoodOptions likelihood;
  likelihood.objective = loaded.objective;
  likelihood.mask_token = loaded.vocabulary.mask_token.value_or(-1);
  likelihood.num_draws = options.num_draws;
  likelihood.seed = static_cast<uint64_t>(options.seed);
  base::Progress progress("evaluate", 0, "rows");
  int64_t rows_read = 0;
  const data::RowReader rows = [&, next = open_rows(options, loaded)] {
    progress.update(rows_read);
    auto batch = next();
    if (batch) rows_read += batch->tokens.size(0);
    return batch;
  };
  auto result = evaluation::evaluate_likelihood(*loaded.model, rows, likelihood);
  progress.clear();
  const auto bytes = options.text_bytes > 0 ? std::optional<int64_t>(options.text_bytes)
                                            : data::text_bytes(options.data_path);
  if (bytes) result.bits_per_byte = evaluation::bits_per_byte(result.nats_per_token, result.tokens, *bytes);

  const auto objective = std::string(config::name_of(loaded.objective.model_running_mode));
  if (options.json) {
    nlohmann::json json = {{"objective", objective},
                           {"iteration", loaded.iteration},
                           {"nats_per_token", result.nats_per_token},
                           {"standard_error", result.standard_error},
                           {"perplexity", std::exp(result.nats_per_token)},
                           {"tokens", result.tokens},
                           {"rows", result.rows}};
    if (loaded.objective.diffusion()) json["num_draws"] = options.num_draws;
    if (result.bits_per_byte) json["bits_per_byte"] = *result.bits_per_byte;
    fmt::print("{}\n", json.dump());
    return 0;
  }
  fmt::print("{} after iteration {}: {} tokens in {} rows\n", objective, loaded.iteration, result.tokens,
             result.rows);
  fmt::print("{:<24}{:.4f} ± {:.4f}\n", loaded.objective.diffusion() ? "nats/token (bound)" : "nats/token",
             result.nats_per_token, result.standard_error);
  fmt::print("{:<24}{:.2f}\n", "perplexity", std::exp(result.nats_per_token));
  if (result.bits_per_byte) fmt::print("{:<24}{:.4f}\n", "bits/byte", *result.bits_per_byte);
  return 0;
}

}  // namespace megadlm::apps
