#include "nn/attention/self_attention.h"

#include <ATen/ATen.h>

#include <cmath>

#include "nn/mlp/mlp.h"
#include "ops/attention/attention.h"
#include "ops/qkv_rotary/qkv_rotary.h"

namespace megadlm::nn {
namespace {

std::optional<Norm> head_norm(const config::Architecture& architecture, const std::string& name,
                              std::vector<Parameter>& parameters) {
  if (!architecture.qk_layernorm) return std::nullopt;
  return Norm(architecture.normalization, architecture.kv_channels, architecture.norm_epsilon, name,
              parameters);
}

/// Appends this pass's keys and values to those of the earlier passes; gives all of them.
void extend(KeyValueCache::Layer& layer, at::Tensor& keys, at::Tensor& values) {
  if (layer.keys.defined()) {
    keys = at::cat({layer.keys, keys}, 1);
    values = at::cat({layer.values, values}, 1);
  }
  layer = {keys, values};
}

}  // namespace

SelfAttention::SelfAttention(const config::Architecture& architecture, int64_t layer, uint64_t seed,
                             const std::string& name, std::vector<Parameter>& parameters)
    : heads_(architecture.num_attention_heads),
      groups_(architecture.num_query_groups),
      channels_(architecture.kv_channels),
      layer_(layer),
      epsilon_(architecture.norm_epsilon),
      qkv_(architecture.hidden_size, (heads_ + 2 * groups_) * channels_,
           architecture.add_qkv_bias || !architecture.disable_bias_linear, architecture.init_method_std, seed,
           name + ".linear_qkv", parameters),
      query_norm_(head_norm(architecture, name + ".q_layernorm", parameters)),
      key_norm_(head_norm(architecture, name + ".k_layernorm", parameters)),
      projection_(heads_ * channels_, architecture.hidden_size, !architecture.disable_bias_linear,
                  output_standard_deviation(architecture), seed, name + ".linear_proj", parameters) {}

at::Tensor SelfAttention::forward(const Normed& x, const AttentionContext& context,
                                  const std::vector<Parameter>& parameters) const {
  ops::QkvRotary options;
  options.heads = heads_;
  options.groups = groups_;
  options.head_size = channels_;
  options.epsilon = epsilon_;
  options.rotary_table = context.rotary_table;
  options.positions = context.positions;
  options.first_position = context.first_position;
  if (query_norm_) {
    options.query_norm_weight = query_norm_->weight(parameters);
    options.query_norm_bias = query_norm_->bias(parameters);
    options.key_norm_weight = key_norm_->weight(parameters);
    options.key_norm_bias = key_norm_->bias(parameters);
  }
  const at::Tensor qkv = qkv_.forward(x.value, parameters, x.again);
  auto [query, key, value] = ops::qkv_rotary(qkv, options);
  ops::Recompute<ops::QueryKeyValue> again;
  if (context.cache != nullptr) {
    extend(context.cache->layers[layer_], key, value);
  } else {
    again = [packed = qkv.detach(), options] { return ops::qkv_rotary(packed, options); };
  }
  const at::Tensor mixed = ops::attention(query, key, value, context.visibility,
                                          1 / std::sqrt(static_cast<double>(channels_)), again);
  return projection_.forward(mixed.reshape({qkv.size(0), qkv.size(1), heads_ * channels_}), parameters);
}

}  // namespace megadlm::nn
