#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "config/architecture/architecture.h"
#include "nn/attention/key_value_cache.h"
#include "nn/parameter.h"
#include "ops/attention/visibility.h"

namespace megadlm::models {

/// A forward pass's input.
struct ModelInput {
  at::Tensor tokens;     ///< [b, s] i64
  at::Tensor positions;  ///< [b, s] i64, undefined for 0..s-1 (counted on from the cache's length)
  ops::Visibility visibility;
  nn::KeyValueCache* cache = nullptr;  ///< AR decoding: keys and values before `tokens`, extended by the pass
};

/// Token rows to hidden states, and hidden states to logits or loss.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  virtual const config::Architecture& architecture() const = 0;
  /// Parameters in a fixed order with native names; their `value` may be replaced (precision, loading).
  virtual std::vector<nn::Parameter>& parameters() = 0;
  /// Moves all parameters and tables.
  virtual void to(at::Device device) = 0;
  /// Final hidden states [b, s, h] after the last norm.
  virtual at::Tensor hidden(const ModelInput& input) const = 0;
  /// Logits [n, padded vocabulary] of hidden states [n, h].
  virtual at::Tensor logits(const at::Tensor& hidden) const = 0;
  /// Sum over rows of weight x cross-entropy, fp32 scalar: hidden [b, s, h], targets [b, s] i64, weights
  /// [b, s] f32. Runs the output layer only where the weight is not zero.
  virtual at::Tensor loss(const at::Tensor& hidden, const at::Tensor& targets,
                          const at::Tensor& weights) const = 0;
  /// Cross-entropy of each row, [n] f32 without gradient: hidden [n, h], targets [n] i64. Logits exist in
  /// chunks.
  virtual at::Tensor losses(const at::Tensor& hidden, const at::Tensor& targets) const = 0;
};

/// A decoder with weights drawn from Philox keyed by (seed, parameter, element), on the CPU in fp32.
std::unique_ptr<LanguageModel> make_decoder(const config::Architecture& architecture, uint64_t seed);

}  // namespace megadlm::models
