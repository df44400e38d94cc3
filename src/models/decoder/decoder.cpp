#include "models/decoder/decoder.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "nn/head/loss_head.h"
#include "nn/initialization.h"
#include "ops/embedding/embedding.h"
#include "ops/linear/linear.h"
#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/qkv_rotary/qkv_rotary.h"

namespace megadlm::models {

Decoder::Decoder(const config::Architecture& architecture, uint64_t seed) : architecture_(architecture) {
  const auto matrix = [&](const std::string& name, int64_t rows) {
    parameters_.push_back(
        {name,
         nn::normal_parameter({rows, architecture_.hidden_size}, architecture_.init_method_std, seed, name),
         true});
    return parameters_.size() - 1;
  };
  word_embeddings_ = matrix("embedding.word_embeddings.weight", architecture_.padded_vocab_size);
  if (architecture_.position_embedding_type == config::PositionEmbedding::learned_absolute) {
    position_embeddings_ =
        matrix("embedding.position_embeddings.weight", architecture_.max_position_embeddings);
  }
  const auto norm = [&](const std::string& name) {
    return nn::Norm(architecture_.normalization, architecture_.hidden_size, architecture_.norm_epsilon, name,
                    parameters_);
  };
  for (int64_t i = 0; i < architecture_.num_layers; ++i) {
    const std::string name = fmt::format("decoder.layers.{}", i);
    layers_.push_back({norm(name + ".input_layernorm"),
                       nn::SelfAttention(architecture_, i, seed, name + ".self_attention", parameters_),
                       norm(name + ".pre_mlp_layernorm"),
                       nn::Mlp(architecture_, seed, name + ".mlp", parameters_)});
  }
  final_norm_ = norm("decoder.final_layernorm");
  if (architecture_.untie_embeddings_and_output_weights) {
    output_ = matrix("output_layer.weight", architecture_.padded_vocab_size);
  }
  if (architecture_.position_embedding_type == config::PositionEmbedding::rope) {
    rotary_table_ = ops::rotary_table(architecture_.max_position_embeddings, architecture_.rotary_channels(),
                                      architecture_.rotary_base);
  }
}

void Decoder::to(at::Device device) {
  for (nn::Parameter& parameter : parameters_) {
    if (parameter.value.device() != device)
      parameter.value = parameter.value.detach().to(device).requires_grad_(true);
  }
  if (rotary_table_.defined()) rotary_table_ = rotary_table_.to(device);
}

at::Tensor Decoder::embed(const ModelInput& input, int64_t first_position) const {
  const at::Tensor words = ops::embedding(input.tokens, parameters_[word_embeddings_].value);
  if (!position_embeddings_) return words;
  const at::Tensor positions =
      input.positions.defined()
          ? input.positions
          : at::arange(first_position, first_position + input.tokens.size(1), input.tokens.options())
                .unsqueeze(0);
  return words + ops::embedding(positions, parameters_[*position_embeddings_].value);
}

at::Tensor Decoder::hidden(const ModelInput& input) const {
  const int64_t first_position = input.cache != nullptr ? input.cache->length : 0;
  const int64_t last = first_position + input.tokens.size(1);
  base::require(input.positions.defined() || last <= architecture_.max_position_embeddings,
                "a row of {} tokens is longer than the model's {} positions (--max-position-embeddings)",
                last, architecture_.max_position_embeddings);
  if (input.cache != nullptr) input.cache->layers.resize(layers_.size());
  const nn::AttentionContext context{rotary_table_, input.positions, first_position, input.visibility,
                                     input.cache};

  at::Tensor residual = embed(input, first_position);
  nn::Normed normed = layers_.front().input_norm.forward(residual, parameters_);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const at::Tensor attended = layer.attention.forward(normed, context, parameters_);
    std::tie(normed, residual) = layer.mlp_norm.add_forward(residual, attended, parameters_);
    const at::Tensor transformed = layer.mlp.forward(normed, parameters_);
    const nn::Norm& next = i + 1 < layers_.size() ? layers_[i + 1].input_norm : *final_norm_;
    std::tie(normed, residual) = next.add_forward(residual, transformed, parameters_);
  }
  if (input.cache != nullptr) input.cache->length = last;
  return normed.value;
}

const at::Tensor& Decoder::output_weight() const {
  return parameters_[output_.value_or(word_embeddings_)].value;
}

at::Tensor Decoder::logits(const at::Tensor& hidden) const { return ops::linear(hidden, output_weight()); }

at::Tensor Decoder::loss(const at::Tensor& hidden, const at::Tensor& targets,
                         const at::Tensor& weights) const {
  return nn::weighted_loss(hidden, output_weight(), targets, weights, architecture_.vocab_size);
}

at::Tensor Decoder::losses(const at::Tensor& hidden, const at::Tensor& targets) const {
  return ops::linear_cross_entropy_rows(hidden, output_weight(), targets, architecture_.vocab_size);
}

std::unique_ptr<LanguageModel> make_decoder(const config::Architecture& architecture, uint64_t seed) {
  return std::make_unique<Decoder>(architecture, seed);
}

}  // namespace megadlm::models
