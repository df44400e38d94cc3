#include "config/architecture/architecture.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace megadlm::config {
namespace {

void require_usage(bool condition, const std::string& message) {
  if (!condition) throw base::Error(message, 2);
}

void check_activation(const Architecture& architecture) {
  const int chosen = int{architecture.swiglu} + int{architecture.geglu} + int{architecture.squared_relu};
  require_usage(chosen <= 1, "--swiglu, --geglu, --squared-relu: at most one activation can be chosen");
}

void check_dropout(const Architecture& architecture) {
  require_usage(architecture.attention_dropout == 0,
                fmt::format("--attention-dropout {}: attention weights are never dropped, only 0 is accepted",
                            architecture.attention_dropout));
  require_usage(architecture.hidden_dropout == 0,
                fmt::format("--hidden-dropout {}: hidden states are never dropped, only 0 is accepted",
                            architecture.hidden_dropout));
}

void resolve_heads(Architecture& architecture) {
  const int64_t hidden = architecture.hidden_size, heads = architecture.num_attention_heads;
  if (architecture.kv_channels == 0) {
    require_usage(
        hidden % heads == 0,
        fmt::format("--num-attention-heads {} does not divide --hidden-size {}; choose another number of "
                    "heads, or give the size of one head with --kv-channels",
                    heads, hidden));
    architecture.kv_channels = hidden / heads;
  }
  const int64_t groups = architecture.num_query_groups;
  if (!architecture.group_query_attention) {
    require_usage(
        groups == 0 || groups == heads,
        fmt::format("--num-query-groups {} needs --group-query-attention (there are {} attention heads)",
                    groups, heads));
  }
  if (groups == 0) architecture.num_query_groups = heads;
  require_usage(heads % architecture.num_query_groups == 0,
                fmt::format("--num-query-groups {} does not divide --num-attention-heads {}",
                            architecture.num_query_groups, heads));
}

void resolve_positions(Architecture& architecture, int64_t seq_length) {
  if (architecture.max_position_embeddings == 0) architecture.max_position_embeddings = seq_length;
  require_usage(architecture.max_position_embeddings >= seq_length,
                fmt::format("--max-position-embeddings {} is less than --seq-length {}",
                            architecture.max_position_embeddings, seq_length));
  if (architecture.position_embedding_type != PositionEmbedding::rope) return;
  require_usage(architecture.kv_channels % 2 == 0,
                fmt::format("rotary positions turn pairs of channels, but a head has {} (--kv-channels, or "
                            "--hidden-size / --num-attention-heads): an even number is accepted",
                            architecture.kv_channels));
  require_usage(architecture.rotary_channels() > 0,
                fmt::format("--rotary-percent {} of {} channels leaves no pair to turn; give more, or "
                            "--position-embedding-type none",
                            architecture.rotary_percent, architecture.kv_channels));
}

void check_vocabulary(const Architecture& architecture) {
  base::require(architecture.vocab_size >= 1 && architecture.padded_vocab_size >= architecture.vocab_size,
                "the padded vocabulary has {} ids, the vocabulary {}", architecture.padded_vocab_size,
                architecture.vocab_size);
}

/// Weights of the layers' matrices, without biases: what matrix products run over.
int64_t layer_matrix_weights(const Architecture& architecture) {
  const int64_t hidden = architecture.hidden_size;
  const int64_t queries = architecture.num_attention_heads * architecture.kv_channels;
  const int64_t keys = architecture.num_query_groups * architecture.kv_channels;
  const int64_t ffn_in = architecture.ffn_hidden_size * (architecture.gated() ? 2 : 1);
  return hidden * (queries + 2 * keys) + queries * hidden + hidden * ffn_in +
         architecture.ffn_hidden_size * hidden;
}

/// Parameters of one normalisation over `channels`.
int64_t norm_parameters(const Architecture& architecture, int64_t channels) {
  return architecture.normalization == Normalization::layer_norm ? 2 * channels : channels;
}

}  // namespace

Activation Architecture::activation() const {
  if (swiglu) return Activation::swiglu;
  if (geglu) return Activation::geglu;
  if (squared_relu) return Activation::squared_relu;
  return Activation::gelu;
}

int64_t Architecture::rotary_channels() const {
  if (position_embedding_type != PositionEmbedding::rope) return 0;
  return static_cast<int64_t>(std::floor(static_cast<double>(kv_channels) * rotary_percent)) / 2 * 2;
}

Architecture resolve(Architecture architecture, int64_t seq_length, int64_t vocab_size,
                     int64_t padded_vocab_size) {
  for (const auto& [value, flag] :
       {std::pair{architecture.num_layers, "num-layers"}, std::pair{architecture.hidden_size, "hidden-size"},
        std::pair{architecture.num_attention_heads, "num-attention-heads"},
        std::pair{seq_length, "seq-length"}}) {
    require_usage(value >= 1, fmt::format("--{} {}: a whole number of at least 1 is needed", flag, value));
  }
  check_activation(architecture);
  check_dropout(architecture);
  resolve_heads(architecture);
  resolve_positions(architecture, seq_length);
  if (architecture.ffn_hidden_size == 0) {
    architecture.ffn_hidden_size = architecture.gated()
                                       ? (architecture.hidden_size * 8 + 3 * 64 - 1) / (3 * 64) * 64
                                       : 4 * architecture.hidden_size;
  }
  architecture.vocab_size = vocab_size;
  architecture.padded_vocab_size = padded_vocab_size;
  check_vocabulary(architecture);
  return architecture;
}

ParameterCount count_parameters(const Architecture& architecture) {
  const int64_t hidden = architecture.hidden_size, layers = architecture.num_layers;
  const int64_t queries = architecture.num_attention_heads * architecture.kv_channels;
  const int64_t qkv = queries + 2 * architecture.num_query_groups * architecture.kv_channels;
  const int64_t ffn = architecture.ffn_hidden_size, ffn_in = ffn * (architecture.gated() ? 2 : 1);
  const bool bias = !architecture.disable_bias_linear;

  ParameterCount count;
  count.embedding = architecture.padded_vocab_size * hidden;
  if (architecture.position_embedding_type == PositionEmbedding::learned_absolute) {
    count.embedding += architecture.max_position_embeddings * hidden;
  }
  int64_t attention = hidden * qkv + queries * hidden;
  if (bias || architecture.add_qkv_bias) attention += qkv;
  if (bias) attention += hidden;
  count.attention = layers * attention;
  count.feed_forward = layers * (hidden * ffn_in + ffn * hidden + (bias ? ffn_in + hidden : 0));
  int64_t layer_norms = 2 * norm_parameters(architecture, hidden);
  if (architecture.qk_layernorm) layer_norms += 2 * norm_parameters(architecture, architecture.kv_channels);
  count.norms = layers * layer_norms + norm_parameters(architecture, hidden);
  if (architecture.untie_embeddings_and_output_weights)
    count.output = architecture.padded_vocab_size * hidden;
  return count;
}

double training_flops(const Architecture& architecture, int64_t batch_size, int64_t seq_length,
                      double head_tokens) {
  const double rows = static_cast<double>(batch_size), length = static_cast<double>(seq_length);
  const double layers = static_cast<double>(architecture.num_layers);
  // Every pair of positions counts, whatever the visibility, as the usual model-FLOP figures do. Biases,
  // norms, activations and the embedding's look-up are left out.
  const double matrices =
      6.0 * layers * static_cast<double>(layer_matrix_weights(architecture)) * rows * length;
  const double head = 6.0 * static_cast<double>(architecture.padded_vocab_size) *
                      static_cast<double>(architecture.hidden_size) * head_tokens;
  const double channels = static_cast<double>(architecture.num_attention_heads * architecture.kv_channels);
  return matrices + head + 12.0 * layers * rows * length * length * channels;
}

}  // namespace megadlm::config
