#include "config/architecture/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace megadlm::config {
namespace {

using testing::HasSubstr;

/// SmolLM2-135M: 134,515,008 parameters.
Architecture smollm2() {
  Architecture architecture;
  architecture.num_layers = 30;
  architecture.hidden_size = 576;
  architecture.num_attention_heads = 9;
  architecture.group_query_attention = true;
  architecture.num_query_groups = 3;
  architecture.ffn_hidden_size = 1536;
  architecture.swiglu = true;
  architecture.disable_bias_linear = true;
  architecture.normalization = Normalization::rms_norm;
  architecture.position_embedding_type = PositionEmbedding::rope;
  return architecture;
}

std::string error(Architecture architecture, int64_t seq_length = 128) {
  try {
    resolve(architecture, seq_length, 100, 128);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "no error";
}

TEST(ArchitectureTest, ResolveFillsDefaults) {
  Architecture architecture;
  architecture.num_layers = 2;
  architecture.hidden_size = 256;
  architecture.num_attention_heads = 4;
  const Architecture plain = resolve(architecture, 64, 100, 128);
  EXPECT_EQ(plain.ffn_hidden_size, 1024);
  EXPECT_EQ(plain.kv_channels, 64);
  EXPECT_EQ(plain.num_query_groups, 4);
  EXPECT_EQ(plain.max_position_embeddings, 64);
  EXPECT_EQ(plain.vocab_size, 100);
  EXPECT_EQ(plain.padded_vocab_size, 128);
  EXPECT_EQ(plain.activation(), Activation::gelu);
  architecture.swiglu = true;
  EXPECT_EQ(resolve(architecture, 64, 100, 128).ffn_hidden_size, 704);  // 682.67 rounded up
  architecture.hidden_size = 384;
  EXPECT_EQ(resolve(architecture, 64, 100, 128).ffn_hidden_size, 1024);  // a multiple already
}

TEST(ArchitectureTest, RotaryChannels) {
  Architecture architecture = resolve(smollm2(), 128, 100, 128);
  EXPECT_EQ(architecture.rotary_channels(), 64);
  architecture.rotary_percent = 0.3;  // 19.2
  EXPECT_EQ(architecture.rotary_channels(), 18);
  architecture.position_embedding_type = PositionEmbedding::none;
  EXPECT_EQ(architecture.rotary_channels(), 0);
}

TEST(ArchitectureTest, Contradictions) {
  Architecture architecture = smollm2();
  architecture.num_attention_heads = 7;
  EXPECT_THAT(error(architecture), HasSubstr("--num-attention-heads 7 does not divide --hidden-size 576"));
  architecture.kv_channels = 64;
  EXPECT_THAT(error(architecture), HasSubstr("--num-query-groups 3 does not divide --num-attention-heads 7"));
  architecture = smollm2();
  architecture.group_query_attention = false;
  EXPECT_THAT(error(architecture), HasSubstr("--num-query-groups 3 needs --group-query-attention"));
  architecture.num_query_groups = 9;
  EXPECT_EQ(error(architecture), "no error");
  architecture = smollm2();
  architecture.geglu = true;
  EXPECT_THAT(error(architecture), HasSubstr("at most one activation"));
  architecture = smollm2();
  architecture.kv_channels = 33;
  EXPECT_THAT(error(architecture), HasSubstr("a head has 33"));
  architecture.position_embedding_type = PositionEmbedding::none;
  EXPECT_EQ(error(architecture), "no error");
  architecture = smollm2();
  architecture.rotary_percent = 0.01;
  EXPECT_THAT(error(architecture), HasSubstr("--rotary-percent 0.01"));
  architecture = smollm2();
  architecture.max_position_embeddings = 64;
  EXPECT_THAT(error(architecture, 128),
              HasSubstr("--max-position-embeddings 64 is less than --seq-length 128"));
  architecture = smollm2();
  architecture.num_layers = 0;
  EXPECT_THAT(error(architecture), HasSubstr("--num-layers 0"));
}

TEST(ArchitectureTest, CountsOfKnownModels) {
  EXPECT_EQ(count_parameters(resolve(smollm2(), 2048, 49152, 49152)).total(), 134515008);

  Architecture qwen3;  // Qwen3-0.6B: 596,049,920
  qwen3.num_layers = 28;
  qwen3.hidden_size = 1024;
  qwen3.num_attention_heads = 16;
  qwen3.kv_channels = 128;
  qwen3.group_query_attention = true;
  qwen3.num_query_groups = 8;
  qwen3.ffn_hidden_size = 3072;
  qwen3.swiglu = qwen3.disable_bias_linear = qwen3.qk_layernorm = true;
  qwen3.normalization = Normalization::rms_norm;
  qwen3.position_embedding_type = PositionEmbedding::rope;
  EXPECT_EQ(count_parameters(resolve(qwen3, 2048, 151936, 151936)).total(), 596049920);

  Architecture gpt2;  // GPT-2 small: 124,439,808, with biases, LayerNorm and learned positions
  gpt2.num_layers = 12;
  gpt2.hidden_size = 768;
  gpt2.num_attention_heads = 12;
  gpt2.max_position_embeddings = 1024;
  EXPECT_EQ(count_parameters(resolve(gpt2, 1024, 50257, 50257)).total(), 124439808);
}

TEST(ArchitectureTest, CountsOfOptions) {
  const Architecture base = resolve(smollm2(), 128, 1000, 1024);
  const int64_t plain = count_parameters(base).total();
  Architecture changed = base;
  changed.untie_embeddings_and_output_weights = true;
  EXPECT_EQ(count_parameters(changed).total(), plain + 1024 * 576);
  changed = base;
  changed.add_qkv_bias = true;
  EXPECT_EQ(count_parameters(changed).total(), plain + 30 * (9 + 2 * 3) * 64);
  changed.disable_bias_linear = false;
  EXPECT_EQ(count_parameters(changed).total(), plain + 30 * ((9 + 2 * 3) * 64 + 576 + 2 * 1536 + 576));
  changed = base;
  changed.qk_layernorm = true;
  EXPECT_EQ(count_parameters(changed).total(), plain + 30 * 2 * 64);
  changed.normalization = Normalization::layer_norm;
  EXPECT_EQ(count_parameters(changed).total(), plain + 30 * (2 * 2 * 64 + 2 * 576) + 576);
  changed = base;
  changed.position_embedding_type = PositionEmbedding::learned_absolute;
  EXPECT_EQ(count_parameters(changed).embedding, 1024 * 576 + 128 * 576);
}

TEST(ArchitectureTest, FlopsOfAStep) {
  const Architecture architecture = resolve(smollm2(), 128, 1000, 1024);
  const double layer = 576.0 * (15 * 64) + 576.0 * 576 + 3.0 * 576 * 1536;
  const double expected = 6 * 30 * layer * 4 * 128 + 6.0 * 1024 * 576 * 256 + 12.0 * 30 * 4 * 128 * 128 * 576;
  EXPECT_DOUBLE_EQ(training_flops(architecture, 4, 128, 256), expected);
}

TEST(ArchitectureTest, JsonRoundTrip) {
  Architecture architecture = resolve(smollm2(), 128, 1000, 1024);
  architecture.rotary_base = 5e5;
  architecture.norm_epsilon = 1e-6;
  const nlohmann::json json = to_json(architecture);
  EXPECT_EQ(json["normalization"], "RMSNorm");
  EXPECT_EQ(json["padded_vocab_size"], 1024);
  const Architecture again = architecture_from_json(nlohmann::json::parse(json.dump()), "model.json");
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(again.norm_epsilon, 1e-6);
}

TEST(ArchitectureTest, JsonErrors) {
  const nlohmann::json good = to_json(resolve(smollm2(), 128, 1000, 1024));
  const auto error = [&](const nlohmann::json& json) -> std::string {
    try {
      architecture_from_json(json, "model.json");
    } catch (const base::Error& error) {
      return error.what();
    }
    return "no error";
  };
  nlohmann::json bad = good;
  bad.erase("hidden_size");
  EXPECT_EQ(error(bad), "model.json: 'hidden_size' is missing");
  bad = good;
  bad["colour"] = 1;
  EXPECT_EQ(error(bad), "model.json: 'colour' is not a known field");
  bad = good;
  bad["hidden_size"] = "576";
  EXPECT_THAT(error(bad), HasSubstr("model.json: hidden_size: \"576\" is not a whole number"));
  bad["hidden_size"] = 5.5;
  EXPECT_THAT(error(bad), HasSubstr("5.5 is not a whole number"));
  bad["hidden_size"] = 18446744073709551615u;
  EXPECT_THAT(error(bad), HasSubstr("is not a whole number"));
  bad = good;
  bad["swiglu"] = 1;
  EXPECT_THAT(error(bad), HasSubstr("swiglu: 1 is not true or false"));
  bad = good;
  bad["normalization"] = "BatchNorm";
  EXPECT_THAT(error(bad), HasSubstr("'BatchNorm' is not one of LayerNorm, RMSNorm"));
  EXPECT_THAT(error(nlohmann::json::array()), HasSubstr("expected an object"));
}

}  // namespace
}  // namespace megadlm::config
