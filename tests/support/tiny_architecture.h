#pragma once

#include "config/architecture/architecture.h"

namespace megadlm::testing {

/// 2 layers, hidden 32, 4 heads of 8 channels, FFN 64, rotary embedding, RMSNorm, SwiGLU, no biases, untied.
inline config::Architecture tiny_architecture() {
  config::Architecture architecture;
  architecture.num_layers = 2;
  architecture.hidden_size = 32;
  architecture.num_attention_heads = 4;
  architecture.ffn_hidden_size = 64;
  architecture.position_embedding_type = config::PositionEmbedding::rope;
  architecture.normalization = config::Normalization::rms_norm;
  architecture.swiglu = true;
  architecture.disable_bias_linear = true;
  architecture.untie_embeddings_and_output_weights = true;
  return architecture;
}

}  // namespace megadlm::testing
