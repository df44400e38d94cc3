#include "models/decoder/hf_names.h"

#include <ATen/ATen.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"

namespace megadlm::models {
namespace {

/// How a native tensor relates to Hugging Face's.
enum class Fusion { none, query_key_value, gate_up };

struct NamePair {
  std::string_view native, hugging_face;
  Fusion fusion = Fusion::none;
};

constexpr std::array kLayerNames{
    NamePair{"input_layernorm", "input_layernorm"},
    NamePair{"self_attention.linear_qkv", "self_attn", Fusion::query_key_value},
    NamePair{"self_attention.q_layernorm", "self_attn.q_norm"},
    NamePair{"self_attention.k_layernorm", "self_attn.k_norm"},
    NamePair{"self_attention.linear_proj", "self_attn.o_proj"},
    NamePair{"pre_mlp_layernorm", "post_attention_layernorm"},
    NamePair{"mlp.linear_fc1", "mlp", Fusion::gate_up},
    NamePair{"mlp.linear_fc2", "mlp.down_proj"},
};
constexpr std::array kOtherNames{
    NamePair{"embedding.word_embeddings.weight", "model.embed_tokens.weight"},
    NamePair{"decoder.final_layernorm.weight", "model.norm.weight"},
    NamePair{"output_layer.weight", "lm_head.weight"},
};

/// A native name taken apart: the Hugging Face prefix of its module, its kind, and weight or bias.
struct Location {
  std::string module, kind;
  Fusion fusion;
  std::string part(std::string_view projection) const {
    return fmt::format("{}.{}.{}", module, projection, kind);
  }
};

Location locate(const std::string& name) {
  constexpr std::string_view prefix = "decoder.layers.";
  if (name.starts_with(prefix)) {
    const size_t dot = name.find('.', prefix.size()), last = name.rfind('.');
    const std::string number = name.substr(prefix.size(), dot - prefix.size());
    const std::string module = name.substr(dot + 1, last - dot - 1), kind = name.substr(last + 1);
    for (const NamePair& pair : kLayerNames) {
      if (pair.native == module) {
        return {fmt::format("model.layers.{}.{}", number, pair.hugging_face), kind, pair.fusion};
      }
    }
  }
  for (const NamePair& pair : kOtherNames) {
    if (pair.native == name) {
      const size_t last = pair.hugging_face.rfind('.');
      return {std::string(pair.hugging_face.substr(0, last)), std::string(pair.hugging_face.substr(last + 1)),
              Fusion::none};
    }
  }
  base::fail("parameter '{}' has no name in the Hugging Face Llama family", name);
}

/// [rows, ...] seen as [groups, rows / groups, ...].
at::Tensor by_group(const at::Tensor& tensor, int64_t groups) {
  return tensor.unflatten(0, {groups, tensor.size(0) / groups});
}

}  // namespace

config::Architecture architecture_from_hugging_face(const nlohmann::json& config, const std::string& place) {
  const auto number = [&](const char* key, auto otherwise) -> decltype(otherwise) {
    if (!config.contains(key) || config[key].is_null()) return otherwise;
    base::require(config[key].is_number(), "{}: '{}' is {}, not a number", place, key, config[key].dump());
    return config[key].get<decltype(otherwise)>();
  };
  const auto required = [&](const char* key) {
    const int64_t value = number(key, int64_t{0});
    base::require(value > 0, "{}: '{}' is missing or not positive", place, key);
    return value;
  };
  const std::string type = config.value("model_type", "");
  base::require(type == "llama" || type == "mistral" || type == "qwen2" || type == "qwen3",
                "{}: model_type '{}' is not one of llama, mistral, qwen2, qwen3", place, type);
  base::require(config.value("hidden_act", "silu") == "silu", "{}: hidden_act '{}' is not silu", place,
                config.value("hidden_act", ""));
  double rope_theta = number("rope_theta", 10000.0);
  const char* rope_key = config.contains("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (config.contains(rope_key) && config[rope_key].is_object()) {
    const nlohmann::json& rope = config[rope_key];
    const std::string kind = rope.value("rope_type", rope.value("type", "default"));
    base::require(kind == "default", "{}: {} of type '{}' is not supported; only default is", place, rope_key,
                  kind);
    rope_theta = rope.value("rope_theta", rope_theta);
  }

  config::Architecture architecture;
  architecture.num_layers = required("num_hidden_layers");
  architecture.hidden_size = required("hidden_size");
  architecture.num_attention_heads = required("num_attention_heads");
  architecture.ffn_hidden_size = required("intermediate_size");
  architecture.num_query_groups = number("num_key_value_heads", architecture.num_attention_heads);
  architecture.group_query_attention = architecture.num_query_groups != architecture.num_attention_heads;
  architecture.kv_channels = number("head_dim", architecture.hidden_size / architecture.num_attention_heads);
  architecture.max_position_embeddings = required("max_position_embeddings");
  architecture.position_embedding_type = config::PositionEmbedding::rope;
  architecture.rotary_base = rope_theta;
  architecture.normalization = config::Normalization::rms_norm;
  architecture.norm_epsilon = number("rms_norm_eps", 1e-6);
  architecture.swiglu = true;
  architecture.disable_bias_linear = true;
  architecture.add_qkv_bias = type == "qwen2" || config.value("attention_bias", false);
  architecture.qk_layernorm = type == "qwen3";
  architecture.untie_embeddings_and_output_weights = !config.value("tie_word_embeddings", false);
  architecture.init_method_std = number("initializer_range", 0.02);
  const int64_t vocab_size = required("vocab_size");
  return config::resolve(architecture, architecture.max_position_embeddings, vocab_size, vocab_size);
}

at::Tensor from_hugging_face(const config::Architecture& architecture, const std::string& name,
                             const TensorSource& source) {
  const Location location = locate(name);
  switch (location.fusion) {
    case Fusion::none:
      return source(location.module + "." + location.kind);
    case Fusion::gate_up:
      return at::cat({source(location.part("gate_proj")), source(location.part("up_proj"))});
    case Fusion::query_key_value:
      break;
  }
  const int64_t groups = architecture.num_query_groups;
  return at::cat({by_group(source(location.part("q_proj")), groups),
                  by_group(source(location.part("k_proj")), groups),
                  by_group(source(location.part("v_proj")), groups)},
                 1)
      .flatten(0, 1);
}

std::vector<std::pair<std::string, at::Tensor>> to_hugging_face(const config::Architecture& architecture,
                                                                const std::string& name,
                                                                const at::Tensor& tensor) {
  const Location location = locate(name);
  if (location.fusion == Fusion::none) return {{location.module + "." + location.kind, tensor}};
  if (location.fusion == Fusion::gate_up) {
    const int64_t half = tensor.size(0) / 2;
    return {{location.part("gate_proj"), tensor.slice(0, 0, half).contiguous()},
            {location.part("up_proj"), tensor.slice(0, half).contiguous()}};
  }
  const int64_t groups = architecture.num_query_groups, channels = architecture.kv_channels;
  const at::Tensor grouped = by_group(tensor, groups);
  const int64_t queries = grouped.size(1) - 2 * channels;
  const auto rows = [&](int64_t begin, int64_t end) {
    return grouped.slice(1, begin, end).flatten(0, 1).contiguous();
  };
  return {{location.part("q_proj"), rows(0, queries)},
          {location.part("k_proj"), rows(queries, queries + channels)},
          {location.part("v_proj"), rows(queries + channels, queries + 2 * channels)}};
}

}  // namespace megadlm::models
