#pragma once

#include <optional>
#include <vector>

#include "models/language_model.h"
#include "nn/attention/self_attention.h"
#include "nn/linear/linear.h"
#include "nn/mlp/mlp.h"
#include "nn/norm/norm.h"

namespace megadlm::models {

/// Pre-norm decoder: x += attention(norm(x)); x += mlp(norm(x)); a last norm. Each addition is fused with the
/// norm that follows it.
class Decoder : public LanguageModel {
 public:
  Decoder(const config::Architecture& architecture, uint64_t seed);

  const config::Architecture& architecture() const override { return architecture_; }
  std::vector<nn::Parameter>& parameters() override { return parameters_; }
  void to(at::Device device) override;
  at::Tensor hidden(const ModelInput& input) const override;
  at::Tensor logits(const at::Tensor& hidden) const override;
  at::Tensor loss(const at::Tensor& hidden, const at::Tensor& targets,
                  const at::Tensor& weights) const override;
  at::Tensor losses(const at::Tensor& hidden, const at::Tensor& targets) const override;

 private:
  struct Layer {
    nn::Norm input_norm;
    nn::SelfAttention attention;
    nn::Norm mlp_norm;
    nn::Mlp mlp;
  };

  at::Tensor embed(const ModelInput& input, int64_t first_position) const;
  const at::Tensor& output_weight() const;

  config::Architecture architecture_;
  std::vector<nn::Parameter> parameters_;
  size_t word_embeddings_ = 0;
  std::optional<size_t> position_embeddings_;
  std::vector<Layer> layers_;
  std::optional<nn::Norm> final_norm_;
  std::optional<size_t> output_;
  at::Tensor rotary_table_;
};

}  // namespace megadlm::models
