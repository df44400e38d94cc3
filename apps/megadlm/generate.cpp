#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "canvas_view.h"
#include "commands.h"
#include "config/options/generation.h"
#include "config/parser.h"
#include "generation/infill.h"
#include "generation/samplers/autoregressive.h"
#include "generation/samplers/diffusion.h"
#include "training/stages/load_model.h"

namespace megadlm::apps {
namespace {

using Ids = std::vector<int64_t>;

/// One text to make: its ids, and for diffusion the masks to fill.
struct Request {
  std::string prompt;
  Ids ids;
  size_t prompt_length = 0;  ///< ids that are not part of the printed text's new part
};

Ids to_ids(const std::vector<int32_t>& encoded) { return Ids(encoded.begin(), encoded.end()); }

std::vector<Request> make_requests(const config::GenerationOptions& options,
                                   const training::LoadedModel& loaded) {
  const bool diffusion = loaded.objective.diffusion();
  const int64_t mask = loaded.vocabulary.mask_token.value_or(-1);
  std::vector<Request> requests;
  if (!options.infill.empty()) {
    base::require(diffusion, "--infill: the model is autoregressive; only diffusion models fill gaps");
    requests.push_back({options.infill,
                        generation::encode_with_gaps(*loaded.vocabulary.tokenizer, options.infill, mask), 0});
    return requests;
  }
  for (const std::string& prompt : options.prompt.empty() ? std::vector<std::string>{""} : options.prompt) {
    Request request{prompt, to_ids(loaded.vocabulary.tokenizer->encode(prompt)), 0};
    // The first output of an autoregressive or shifted model needs a token to follow.
    const bool needs_start = loaded.objective.model_running_mode != config::RunningMode::diffusion_unshifted;
    if (request.ids.empty() && needs_start) {
      base::require(loaded.vocabulary.eod_token.has_value(),
                    "--prompt: this model needs one, since its tokenizer has "
                    "no end-of-document token to start from");
      request.ids.push_back(*loaded.vocabulary.eod_token);
    }
    request.prompt_length = request.ids.size();
    if (diffusion) request.ids.insert(request.ids.end(), static_cast<size_t>(options.gen_length), mask);
    requests.push_back(std::move(request));
  }
  return requests;
}

void check_length(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                  const Request& request) {
  const int64_t positions = loaded.model->architecture().max_position_embeddings;
  const auto total =
      static_cast<int64_t>(request.ids.size()) + (loaded.objective.diffusion() ? 0 : options.gen_length);
  base::require(
      total <= positions,
      "the text would have {} tokens, but the model has {} positions; shorten --prompt or --gen-length",
      total, positions);
}

/// Ids after the prompt up to the end-of-document token.
Ids generated_part(const Request& request, const Ids& ids, std::optional<int32_t> eod) {
  Ids result(ids.begin() + static_cast<int64_t>(request.prompt_length), ids.end());
  if (eod) result.erase(std::find(result.begin(), result.end(), *eod), result.end());
  return result;
}

Ids run_diffusion(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                  const Request& request, int64_t sample) {
  generation::DiffusionSettings settings;
  settings.objective = loaded.objective;
  settings.mask_token = *loaded.vocabulary.mask_token;
  if (options.infill.empty() && loaded.vocabulary.eod_token)
    settings.eod_token = *loaded.vocabulary.eod_token;
  settings.steps = options.steps;
  settings.block_length = options.block_length;
  settings.temperature = options.temperature;
  settings.cfg_scale = options.cfg_scale;
  settings.remasking = options.remasking;
  settings.seed = static_cast<uint64_t>(options.seed + sample);
  const auto model = generation::diffusion_model(*loaded.model, loaded.objective);
  CanvasView view(*loaded.vocabulary.tokenizer, settings.mask_token);
  const generation::StepCallback watch = [&](const generation::DenoisingStep& step) { view.show(step); };
  const at::Tensor canvas = at::tensor(request.ids, at::kLong).unsqueeze(0);
  const at::Tensor filled =
      generation::denoise(model, canvas, settings, options.watch ? watch : generation::StepCallback());
  const at::Tensor row = filled[0].contiguous();
  return Ids(row.const_data_ptr<int64_t>(), row.const_data_ptr<int64_t>() + row.numel());
}

Ids run_autoregressive(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                       const Request& request, int64_t sample) {
  generation::AutoregressiveSettings settings;
  settings.max_new_tokens = options.gen_length;
  settings.temperature = options.temperature;
  if (loaded.vocabulary.mask_token) settings.banned = {*loaded.vocabulary.mask_token};
  if (loaded.vocabulary.eod_token) settings.eod_token = *loaded.vocabulary.eod_token;
  settings.seed = static_cast<uint64_t>(options.seed + sample);
  const auto watch = [&](int64_t token) {
    std::fputs(loaded.vocabulary.tokenizer->decode({static_cast<int32_t>(token)}).c_str(), stderr);
  };
  Ids result = request.ids;
  const Ids made = generation::continue_prompt(*loaded.model, request.ids, settings,
                                               options.watch ? watch : std::function<void(int64_t)>());
  result.insert(result.end(), made.begin(), made.end());
  if (options.watch) std::fputc('\n', stderr);
  return result;
}

void print_result(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                  const Request& request, const Ids& ids, int64_t sample, double seconds) {
  const Ids made =
      generated_part(request, ids, options.infill.empty() ? loaded.vocabulary.eod_token : std::nullopt);
  const std::string text =
      loaded.vocabulary.tokenizer->decode(std::vector<int32_t>(made.begin(), made.end()), true);
  if (!options.json) {
    fmt::print("{}{}\n", request.prompt_length > 0 ? request.prompt : "", text);
    return;
  }
  const nlohmann::json json = {
      {"prompt", request.prompt},
      {"sample", sample},
      {"text", text},
      {"ids", made},
      {"seconds", seconds},
      {"tokens_per_second", static_cast<double>(ids.size() - request.prompt_length) / seconds}};
  fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int generate_command(const std::vector<std::string>& arguments) {
  config::GenerationOptions options;
  config::Parser parser("generate", "Sample text from a model, or fill gaps in one.");
  parser.add(options);
  if (!parser.parse(arguments)) return 0;
  base::start_logging();
  if (options.load.empty()) base::fail_usage("--load is missing: a folder of checkpoints");
  if (!options.infill.empty() && !options.prompt.empty())
    base::fail_usage("--infill and --prompt exclude each other");
  if (options.num_threads > 0) at::set_num_threads(static_cast<int>(options.num_threads));
  const training::LoadedModel loaded = training::load_model(options.load);
  bool first = true;
  for (const Request& request : make_requests(options, loaded)) {
    check_length(options, loaded, request);
    for (int64_t sample = 0; sample < options.num_samples; ++sample) {
      const auto start = std::chrono::steady_clock::now();
      const Ids ids = loaded.objective.diffusion() ? run_diffusion(options, loaded, request, sample)
                                                   : run_autoregressive(options, loaded, request, sample);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!first && !options.json) fmt::print("{}\n", std::string(60, '-'));
      first = false;
      print_result(options, loaded, request, ids, sample, seconds);
    }
  }
  return 0;
}

}  // namespace megadlm::apps
