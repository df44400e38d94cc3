#include "models/decoder/decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <set>

#include "models/decoder/hf_names.h"
#include "support/tiny_architecture.h"

namespace megadlm::models {
namespace {

using Kind = ops::Visibility::Kind;

/// 2 layers, hidden 32, 4 query heads, 2 groups of 8 channels, FFN 64, vocabulary 50.
config::Architecture tiny() {
  config::Architecture architecture = megadlm::testing::tiny_architecture();
  architecture.group_query_attention = true;
  architecture.num_query_groups = 2;
  return architecture;
}

std::unique_ptr<LanguageModel> make(const config::Architecture& architecture, int64_t vocab_size = 50) {
  return make_decoder(config::resolve(architecture, 64, vocab_size, vocab_size), 1);
}

at::Tensor some_tokens(int64_t rows, int64_t length) {
  return at::arange(rows * length).mul(7).remainder(48).view({rows, length});
}

at::Tensor all_logits(const LanguageModel& model, const ModelInput& input) {
  return model.logits(model.hidden(input));
}

/// Variants that touch each branch of the decoder.
std::vector<config::Architecture> variants() {
  std::vector<config::Architecture> result{tiny()};
  auto gpt2 = tiny();
  gpt2.swiglu = false;
  gpt2.disable_bias_linear = false;
  gpt2.group_query_attention = false;
  gpt2.num_query_groups = 0;
  gpt2.normalization = config::Normalization::layer_norm;
  gpt2.position_embedding_type = config::PositionEmbedding::learned_absolute;
  gpt2.untie_embeddings_and_output_weights = false;
  result.push_back(gpt2);
  auto qwen3 = tiny();
  qwen3.qk_layernorm = true;
  qwen3.kv_channels = 16;
  result.push_back(qwen3);
  auto neox = tiny();
  neox.swiglu = false;
  neox.squared_relu = true;
  neox.rotary_percent = 0.5;
  neox.qk_layernorm = true;
  neox.normalization = config::Normalization::layer_norm;
  result.push_back(neox);
  auto geglu = tiny();
  geglu.swiglu = false;
  geglu.geglu = true;
  geglu.add_qkv_bias = true;
  geglu.position_embedding_type = config::PositionEmbedding::none;
  result.push_back(geglu);
  return result;
}

TEST(Decoder, ParameterCountIsThatOfTheArchitecture) {
  for (const auto& architecture : variants()) {
    const auto model = make(architecture);
    int64_t count = 0;
    std::set<std::string> names;
    for (const auto& parameter : model->parameters()) {
      count += parameter.value.numel();
      EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    }
    EXPECT_EQ(count, config::count_parameters(model->architecture()).total());
  }
}

TEST(Decoder, EveryParameterHasAFiniteGradient) {
  for (const auto& architecture : variants()) {
    const auto model = make(architecture);
    const at::Tensor tokens = some_tokens(2, 12);
    const at::Tensor weights = at::ones({2, 12}) / 24;
    model->loss(model->hidden({tokens, {}, {}, nullptr}), tokens, weights).backward();
    for (const auto& parameter : model->parameters()) {
      ASSERT_TRUE(parameter.value.grad().defined()) << parameter.name;
      EXPECT_TRUE(at::isfinite(parameter.value.grad()).all().item<bool>()) << parameter.name;
      EXPECT_GT(parameter.value.grad().abs().max().item<float>(), 0) << parameter.name;
    }
  }
}

TEST(Decoder, LossIsTheWeightedCrossEntropyOfTheLogits) {
  const auto model = make(tiny());
  const at::Tensor tokens = some_tokens(3, 9);
  const at::Tensor weights = at::rand({3, 9}) * at::rand({3, 9}).lt(0.5);
  const at::Tensor hidden = model->hidden({tokens, {}, {}, nullptr});
  const at::Tensor reference = (at::cross_entropy_loss(model->logits(hidden).flatten(0, 1), tokens.flatten(),
                                                       {}, at::Reduction::None) *
                                weights.flatten())
                                   .sum();
  EXPECT_NEAR(model->loss(hidden, tokens, weights).item<double>(), reference.item<double>(), 1e-5);
}

TEST(Decoder, PaddedVocabularyTakesNoPartInTheLoss) {
  const auto padded = make_decoder(config::resolve(tiny(), 64, 50, 64), 1);
  const auto exact = make(tiny());
  for (size_t i = 0; i < exact->parameters().size(); ++i) {
    const at::NoGradGuard no_gradient;
    at::Tensor target = exact->parameters()[i].value;
    target.copy_(padded->parameters()[i].value.slice(0, 0, target.size(0)));
  }
  const at::Tensor tokens = some_tokens(2, 8), weights = at::ones({2, 8});
  const auto loss = [&](const LanguageModel& model) {
    return model.loss(model.hidden({tokens, {}, {}, nullptr}), tokens, weights).item<double>();
  };
  EXPECT_NEAR(loss(*padded), loss(*exact), 1e-4);
}

TEST(Decoder, CausalRowsDoNotSeeWhatFollows) {
  for (const auto& architecture : variants()) {
    const auto model = make(architecture);
    const at::Tensor tokens = some_tokens(1, 16);
    at::Tensor changed = tokens.clone();
    changed.slice(1, 10).add_(1).remainder_(48);
    const auto run = [&](const at::Tensor& input, Kind kind, int64_t block) {
      return all_logits(*model, {input, {}, {kind, block, {}}, nullptr});
    };
    EXPECT_TRUE(
        run(tokens, Kind::causal, 0).slice(1, 0, 10).allclose(run(changed, Kind::causal, 0).slice(1, 0, 10)));
    const at::Tensor block_before = run(tokens, Kind::block_causal, 4),
                     block_after = run(changed, Kind::block_causal, 4);
    EXPECT_TRUE(block_before.slice(1, 0, 8).allclose(block_after.slice(1, 0, 8)));
    EXPECT_FALSE(block_before.slice(1, 8, 10).allclose(block_after.slice(1, 8, 10)));
    EXPECT_FALSE(
        run(tokens, Kind::full, 0).slice(1, 0, 8).allclose(run(changed, Kind::full, 0).slice(1, 0, 8)));
  }
}

TEST(Decoder, PackedDocumentsEqualSeparateOnes) {
  for (const auto& architecture : variants()) {
    for (const Kind kind : {Kind::full, Kind::causal}) {
      const auto model = make(architecture);
      const at::Tensor tokens = some_tokens(1, 14);
      const at::Tensor positions = at::cat({at::arange(6), at::arange(8)}).unsqueeze(0);
      const at::Tensor segments = at::cat({at::zeros({6}, at::kLong), at::ones({8}, at::kLong)}).unsqueeze(0);
      const at::Tensor packed = all_logits(*model, {tokens, positions, {kind, 0, segments}, nullptr});
      const at::Tensor first = all_logits(*model, {tokens.slice(1, 0, 6), {}, {kind, 0, {}}, nullptr});
      const at::Tensor second = all_logits(*model, {tokens.slice(1, 6), {}, {kind, 0, {}}, nullptr});
      EXPECT_TRUE(packed.allclose(at::cat({first, second}, 1), 1e-4, 1e-5));
    }
  }
}

TEST(Decoder, CachedPassesEqualOnePass) {
  for (const auto& architecture : variants()) {
    const auto model = make(architecture);
    const at::NoGradGuard no_gradient;
    const at::Tensor tokens = some_tokens(2, 11);
    const at::Tensor whole = all_logits(*model, {tokens, {}, {Kind::causal, 0, {}}, nullptr});
    nn::KeyValueCache cache;
    std::vector<at::Tensor> parts;
    for (const auto& [begin, end] : {std::pair{0, 5}, {5, 6}, {6, 11}}) {
      parts.push_back(all_logits(*model, {tokens.slice(1, begin, end), {}, {Kind::causal, 0, {}}, &cache}));
    }
    EXPECT_TRUE(at::cat(parts, 1).allclose(whole, 1e-4, 1e-5));
    EXPECT_EQ(cache.length, 11);
  }
}

TEST(Decoder, InitialWeightsDependOnTheNameAndSeedOnly) {
  auto deeper = tiny();
  deeper.num_layers = 3;
  const auto one = make(tiny()), other = make(deeper);
  EXPECT_TRUE(one->parameters()[2].value.equal(other->parameters()[2].value));
  EXPECT_FALSE(make_decoder(one->architecture(), 2)->parameters()[2].value.equal(one->parameters()[2].value));
  EXPECT_NEAR(one->parameters()[0].value.std().item<double>(), 0.02, 0.002);
}

TEST(HuggingFaceNames, RoundTripIsExact) {
  auto qwen3 = tiny();
  qwen3.qk_layernorm = true;
  const auto model = make(qwen3);
  std::map<std::string, at::Tensor> tensors;
  for (const auto& parameter : model->parameters()) {
    for (const auto& [name, tensor] :
         to_hugging_face(model->architecture(), parameter.name, parameter.value)) {
      EXPECT_TRUE(tensors.emplace(name, tensor).second) << name;
    }
  }
  EXPECT_EQ(tensors.at("model.layers.1.self_attn.k_proj.weight").sizes(), (std::vector<int64_t>{16, 32}));
  EXPECT_EQ(tensors.count("lm_head.weight"), 1);
  for (const auto& parameter : model->parameters()) {
    const at::Tensor back = from_hugging_face(model->architecture(), parameter.name,
                                              [&](const std::string& name) { return tensors.at(name); });
    EXPECT_TRUE(back.equal(parameter.value)) << parameter.name;
  }
}

}  // namespace
}  // namespace megadlm::models
