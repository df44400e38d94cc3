#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "config/option.h"

namespace megadlm::config {

enum class Normalization { layer_norm, rms_norm };
enum class PositionEmbedding { learned_absolute, rope, none };
enum class Activation { gelu, swiglu, geglu, squared_relu };

template <>
struct EnumNames<Normalization> {
  static constexpr std::array value{std::pair{Normalization::layer_norm, std::string_view("LayerNorm")},
                                    std::pair{Normalization::rms_norm, std::string_view("RMSNorm")}};
};
template <>
struct EnumNames<PositionEmbedding> {
  static constexpr std::array value{
      std::pair{PositionEmbedding::learned_absolute, std::string_view("learned_absolute")},
      std::pair{PositionEmbedding::rope, std::string_view("rope")},
      std::pair{PositionEmbedding::none, std::string_view("none")}};
};

/// A decoder's shape, in Megatron-LM's words. `resolve` fills what was left at its default and checks it.
struct Architecture {
  static constexpr std::string_view group = "Model";
  int64_t num_layers = 0;
  int64_t hidden_size = 0;
  int64_t num_attention_heads = 0;
  int64_t ffn_hidden_size = 0;
  bool group_query_attention = false;
  int64_t num_query_groups = 0;
  int64_t kv_channels = 0;
  int64_t max_position_embeddings = 0;
  PositionEmbedding position_embedding_type = PositionEmbedding::learned_absolute;
  double rotary_base = 10000;
  double rotary_percent = 1.0;
  Normalization normalization = Normalization::layer_norm;
  double norm_epsilon = 1e-5;
  bool swiglu = false;
  bool geglu = false;
  bool squared_relu = false;
  bool disable_bias_linear = false;
  bool add_qkv_bias = false;
  bool qk_layernorm = false;
  bool untie_embeddings_and_output_weights = false;
  double attention_dropout = 0.0;
  double hidden_dropout = 0.0;
  double init_method_std = 0.02;

  /// Ids that exist: the tokenizer's vocabulary with the mask token. No option: it follows from the
  /// tokenizer.
  int64_t vocab_size = 0;
  /// Rows of the embedding and output matrices: the tokenizer's vocabulary with the mask token, padded to a
  /// multiple of `make_vocab_size_divisible_by`. No option: it follows from the tokenizer.
  int64_t padded_vocab_size = 0;

  Activation activation() const;
  bool gated() const { return swiglu || geglu; }
  /// Channels of a head that the rotary embedding turns, an even number; 0 without rotary embedding.
  int64_t rotary_channels() const;

  // The upper bounds are beyond any model; they keep parameter counts far inside 64 bits.
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.num_layers, "num-layers", "Number of transformer layers.", between(1, 1 << 13));
    option(self.hidden_size, "hidden-size", "Width of the hidden states.", between(1, 1 << 20));
    option(self.num_attention_heads, "num-attention-heads", "Number of query heads.", between(1, 1 << 13));
    option(self.ffn_hidden_size, "ffn-hidden-size",
           "Width of the feed-forward layer. 0: 4 x hidden size, or 8/3 of it rounded up to a multiple of 64 "
           "for a gated activation.",
           between(0, 1 << 24));
    option(self.group_query_attention, "group-query-attention", "Share key-value heads between query heads.");
    option(self.num_query_groups, "num-query-groups",
           "Number of key-value heads, with --group-query-attention. 0: as many as query heads.",
           between(0, 1 << 13));
    option(self.kv_channels, "kv-channels", "Size of one head. 0: hidden size / attention heads.",
           between(0, 1 << 13));
    option(self.max_position_embeddings, "max-position-embeddings",
           "Longest position that the model is made for. 0: the sequence length.", between(0, 1 << 30));
    option(self.position_embedding_type, "position-embedding-type", "How positions enter the model.");
    option(self.rotary_base, "rotary-base", "Base of the rotary embedding's wavelengths.", positive());
    option(self.rotary_percent, "rotary-percent", "Share of a head's channels that are rotated.",
           between(0, 1));
    option(self.normalization, "normalization", "Kind of normalisation layer.");
    option(self.norm_epsilon, "norm-epsilon", "Added to the variance in normalisation.", positive());
    option(self.swiglu, "swiglu", "Gated feed-forward layer with SiLU.");
    option(self.geglu, "geglu", "Gated feed-forward layer with GELU.");
    option(self.squared_relu, "squared-relu", "Feed-forward layer with the square of ReLU.");
    option(self.disable_bias_linear, "disable-bias-linear", "No bias in linear layers.");
    option(self.add_qkv_bias, "add-qkv-bias",
           "Bias in the query-key-value projection even with --disable-bias-linear.");
    option(self.qk_layernorm, "qk-layernorm", "Normalise each head of queries and keys before the rotation.");
    option(self.untie_embeddings_and_output_weights, "untie-embeddings-and-output-weights",
           "Separate matrices for the embedding and the output layer.");
    option(self.attention_dropout, "attention-dropout",
           "Dropout probability of attention weights; only 0 is accepted.", below(0, 1));
    option(self.hidden_dropout, "hidden-dropout",
           "Dropout probability of each block's output; only 0 is accepted.", below(0, 1));
    option(self.init_method_std, "init-method-std",
           "Standard deviation of the initial weights (output projections: divided by sqrt(2 x layers)).",
           positive());
  }
};

/// Fills every field that was left at 0 and checks that the shape is possible: heads divide the hidden size,
/// groups divide heads, at most one activation... Errors name the flags and values.
Architecture resolve(Architecture architecture, int64_t seq_length, int64_t vocab_size,
                     int64_t padded_vocab_size);

/// Parameters by part; `total()` is the model's size (a tied matrix counts once).
struct ParameterCount {
  int64_t embedding = 0, attention = 0, feed_forward = 0, norms = 0, output = 0;
  int64_t total() const { return embedding + attention + feed_forward + norms + output; }
};
ParameterCount count_parameters(const Architecture& architecture);

/// Floating-point operations of one training step: forward and backward, 6 per weight and token in the
/// layers plus 12 s^2 h per layer and row for attention over all pairs, the head over `head_tokens` only.
double training_flops(const Architecture& architecture, int64_t batch_size, int64_t seq_length,
                      double head_tokens);

/// Every field, for checkpoints. Reading checks types and names the missing or unknown key.
nlohmann::json to_json(const Architecture& architecture);
Architecture architecture_from_json(const nlohmann::json& json, const std::string& place);

}  // namespace megadlm::config
