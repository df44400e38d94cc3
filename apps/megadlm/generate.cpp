#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

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
  std::string prompt;  ///< as given
  std::string shown;   ///< printed before the new text
  Ids ids;
  size_t prompt_length = 0;  ///< ids before the new text
};

/// What came of a request.
struct Generated {
  Ids ids;
  int64_t steps = 0;  ///< denoising steps, or tokens drawn one by one
};

Ids to_ids(const std::vector<int32_t>& encoded) { return Ids(encoded.begin(), encoded.end()); }

/// The first output of an autoregressive or shifted model needs a token to follow: the end of a document.
Ids start_of_text(const training::LoadedModel& loaded) {
  if (loaded.objective.model_running_mode == config::RunningMode::diffusion_unshifted) return {};
  base::require(loaded.vocabulary.eod_token.has_value(),
                "--prompt: this model needs one, since its tokenizer has no end-of-document token to start "
                "from");
  return {*loaded.vocabulary.eod_token};
}

Request infill_request(const config::GenerationOptions& options, const training::LoadedModel& loaded) {
  base::require(loaded.objective.diffusion(),
                "--infill: the model is autoregressive; only diffusion models fill gaps");
  base::require(loaded.objective.attention_mask_type != config::AttentionMaskType::causal,
                "--infill: the model's attention is causal; it does not see what follows a gap");
  const int64_t mask = *loaded.vocabulary.mask_token;
  Request request{options.infill, "",
                  generation::encode_with_gaps(*loaded.vocabulary.tokenizer, options.infill, mask), 0};
  if (request.ids.front() == mask) {
    const Ids start = start_of_text(loaded);
    request.ids.insert(request.ids.begin(), start.begin(), start.end());
    request.prompt_length = start.size();
  }
  return request;
}

std::vector<Request> make_requests(const config::GenerationOptions& options,
                                   const training::LoadedModel& loaded) {
  if (!options.infill.empty()) return {infill_request(options, loaded)};
  std::vector<Request> requests;
  for (const std::string& prompt : options.prompt.empty() ? std::vector<std::string>{""} : options.prompt) {
    Request request{prompt, prompt, to_ids(loaded.vocabulary.tokenizer->encode(prompt)), 0};
    if (request.ids.empty()) request.ids = start_of_text(loaded);
    request.prompt_length = request.ids.size();
    if (loaded.objective.diffusion()) {
      request.ids.insert(request.ids.end(), static_cast<size_t>(options.gen_length),
                         *loaded.vocabulary.mask_token);
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

void check_length(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                  const Request& request) {
  const int64_t positions = loaded.model->architecture().max_position_embeddings;
  const auto total =
      static_cast<int64_t>(request.ids.size()) + (loaded.objective.diffusion() ? 0 : options.gen_length);
  base::require(total <= positions,
                "the text would have {} tokens, but the model has {} positions; shorten {}", total, positions,
                options.infill.empty() ? "--prompt or --gen-length" : "--infill");
}

/// Blocks must share the new tokens, and the steps the blocks, without a rest. Gaps need not: their blocks
/// differ anyway.
void check_blocks(const config::GenerationOptions& options) {
  if (!options.infill.empty()) return;
  const int64_t length = options.block_length > 0 ? options.block_length : options.gen_length;
  if (options.gen_length % length != 0) {
    base::fail("--block-length {}: does not divide --gen-length {}; {} would do", length, options.gen_length,
               std::gcd(length, options.gen_length));
  }
  const int64_t blocks = options.gen_length / length;
  if (options.steps % blocks != 0) {
    base::fail("--steps {}: the {} blocks need the same number each: a multiple of {}, such as {}",
               options.steps, blocks, blocks, (options.steps / blocks + 1) * blocks);
  }
}

/// Options that mean nothing to the model are named, not silently dropped.
void name_ignored_options(const config::GenerationOptions& options, bool diffusion) {
  const config::GenerationOptions defaults;
  const auto name = [](bool given, const char* option, const char* why) {
    if (given) base::warn_once(fmt::format("--{}: {}; ignored", option, why));
  };
  constexpr const char* kOneByOne = "an autoregressive model draws its tokens one by one";
  name(!diffusion && options.steps != defaults.steps, "steps", kOneByOne);
  name(!diffusion && options.block_length != defaults.block_length, "block-length", kOneByOne);
  name(!diffusion && options.remasking != defaults.remasking, "remasking", kOneByOne);
  name(!diffusion && options.cfg_scale != defaults.cfg_scale, "cfg-scale", kOneByOne);
  name(!options.infill.empty() && options.gen_length != defaults.gen_length, "gen-length",
       "the gaps of --infill say how many tokens are new");
}

/// Ids after the prompt up to the end-of-document token.
Ids generated_part(const Request& request, const Ids& ids, std::optional<int32_t> eod) {
  Ids result(ids.begin() + static_cast<int64_t>(request.prompt_length), ids.end());
  if (eod) result.erase(std::find(result.begin(), result.end(), *eod), result.end());
  return result;
}

Generated run_diffusion(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                        const Request& request, int64_t sample) {
  generation::DiffusionSettings settings;
  settings.mask_token = *loaded.vocabulary.mask_token;
  if (loaded.vocabulary.eod_token) {
    // A document does not end within a text that goes on after the gap.
    if (options.infill.empty())
      settings.eod_token = *loaded.vocabulary.eod_token;
    else
      settings.banned = {*loaded.vocabulary.eod_token};
  }
  settings.steps = options.steps;
  settings.block_length = options.block_length;
  settings.temperature = options.temperature;
  settings.cfg_scale = options.cfg_scale;
  settings.remasking = options.remasking;
  settings.seed = static_cast<uint64_t>(options.seed);
  settings.first_row = sample;
  const auto model = generation::diffusion_model(*loaded.model, loaded.objective);
  CanvasView view(*loaded.vocabulary.tokenizer, settings.mask_token);
  Generated result;
  const generation::StepCallback watch = [&](const generation::DenoisingStep& step) {
    result.steps = step.step;
    if (options.watch) view.show(step);
  };
  const at::Tensor canvas = at::tensor(request.ids, at::kLong).unsqueeze(0);
  const at::Tensor row = generation::denoise(model, canvas, settings, watch)[0].contiguous();
  result.ids.assign(row.const_data_ptr<int64_t>(), row.const_data_ptr<int64_t>() + row.numel());
  return result;
}

Generated run_autoregressive(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                             const Request& request, int64_t sample) {
  generation::AutoregressiveSettings settings;
  settings.max_new_tokens = options.gen_length;
  settings.temperature = options.temperature;
  if (loaded.vocabulary.mask_token) settings.banned = {*loaded.vocabulary.mask_token};
  if (loaded.vocabulary.eod_token) settings.eod_token = *loaded.vocabulary.eod_token;
  settings.seed = static_cast<uint64_t>(options.seed);
  settings.row = sample;
  const auto watch = [&](int64_t token) {
    std::fputs(loaded.vocabulary.tokenizer->decode({static_cast<int32_t>(token)}).c_str(), stderr);
  };
  const Ids made = generation::continue_prompt(*loaded.model, request.ids, settings,
                                               options.watch ? watch : std::function<void(int64_t)>());
  if (options.watch) std::fputc('\n', stderr);
  Generated result{request.ids, static_cast<int64_t>(made.size())};
  result.ids.insert(result.ids.end(), made.begin(), made.end());
  return result;
}

void print_result(const config::GenerationOptions& options, const training::LoadedModel& loaded,
                  const Request& request, const Generated& generated, int64_t sample, double seconds) {
  const Ids made = generated_part(request, generated.ids,
                                  options.infill.empty() ? loaded.vocabulary.eod_token : std::nullopt);
  const std::string text =
      loaded.vocabulary.tokenizer->decode(std::vector<int32_t>(made.begin(), made.end()), true);
  if (!options.json) {
    fmt::print("{}{}\n", request.shown, text);
    return;
  }
  const int64_t mask = loaded.vocabulary.mask_token.value_or(-1);
  const auto new_tokens = options.infill.empty() ? static_cast<int64_t>(made.size())
                                                 : std::count(request.ids.begin(), request.ids.end(), mask);
  const nlohmann::json json = {{"prompt", request.prompt},
                               {"sample", sample},
                               {"text", text},
                               {"ids", made},
                               {"steps", generated.steps},
                               {"seconds", seconds},
                               {"tokens_per_second", static_cast<double>(new_tokens) / seconds}};
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
  const bool diffusion = loaded.objective.diffusion();
  name_ignored_options(options, diffusion);
  if (diffusion) check_blocks(options);
  const std::vector<Request> requests = make_requests(options, loaded);
  for (const Request& request : requests) check_length(options, loaded, request);
  bool first = true;
  for (const Request& request : requests) {
    for (int64_t sample = 0; sample < options.num_samples; ++sample) {
      const auto start = std::chrono::steady_clock::now();
      const Generated generated = diffusion ? run_diffusion(options, loaded, request, sample)
                                            : run_autoregressive(options, loaded, request, sample);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!first && !options.json) fmt::print("{}\n", std::string(60, '-'));
      first = false;
      print_result(options, loaded, request, generated, sample, seconds);
    }
  }
  return 0;
}

}  // namespace megadlm::apps
