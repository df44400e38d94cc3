#include "training/stages/load_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "checkpoint/native/native.h"
#include "config/json.h"
#include "training/stages/initial_weights.h"

namespace megadlm::training {
namespace {

namespace fs = std::filesystem;

at::ScalarType stored_type(const nlohmann::json& state) {
  const std::string precision = state.value("precision", "fp32");
  return precision == "bf16" ? at::kBFloat16 : precision == "fp16" ? at::kHalf : at::kFloat;
}

}  // namespace

LoadedModel load_model(const fs::path& folder) {
  const auto checkpoint = checkpoint::find_checkpoint(folder);
  base::require(checkpoint.has_value(), "--load {}: there is no checkpoint", folder.string());
  const nlohmann::json state = checkpoint::load_state(*checkpoint);
  const std::string place = (*checkpoint / "state.json").string();

  LoadedModel loaded;
  loaded.checkpoint = *checkpoint;
  const config::Architecture architecture = read_architecture(*checkpoint);
  loaded.model = models::make_decoder(architecture, 0);
  load_weights(*checkpoint, *loaded.model);
  const at::ScalarType type = stored_type(state);
  for (nn::Parameter& parameter : loaded.model->parameters()) {
    parameter.value = parameter.value.detach().to(type);
  }
  base::require(state.contains("objective") && state.contains("seq_length") && state.contains("iteration"),
                "{}: has no objective, seq_length or iteration", place);
  config::values_from_json(config::describe_group(loaded.objective), state["objective"],
                           place + ": objective");
  loaded.seq_length = state["seq_length"].get<int64_t>();
  loaded.iteration = state["iteration"].get<int64_t>();

  config::TokenizerOptions tokenizer;
  tokenizer.tokenizer_model = (*checkpoint / "tokenizer.json").string();
  loaded.vocabulary.tokenizer = tokenizers::load_tokenizer(tokenizer);
  loaded.vocabulary.vocab_size = architecture.vocab_size;
  loaded.vocabulary.padded_vocab_size = architecture.padded_vocab_size;
  const auto id = [&](const char* key) {
    return state.contains(key) ? std::optional<int32_t>(state[key].get<int32_t>()) : std::nullopt;
  };
  loaded.vocabulary.mask_token = id("mask_token");
  loaded.vocabulary.eod_token = id("eod_token");
  base::require(!loaded.objective.diffusion() || loaded.vocabulary.mask_token.has_value(),
                "{}: has no mask_token, which a model of mode {} needs", place,
                config::name_of(loaded.objective.model_running_mode));
  return loaded;
}

}  // namespace megadlm::training
