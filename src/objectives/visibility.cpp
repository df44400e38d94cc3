#include "objectives/visibility.h"

#include <ATen/ATen.h>

namespace megadlm::objectives {

ops::Visibility training_visibility(const config::ObjectiveOptions& options, const at::Tensor& segments) {
  using Kind = ops::Visibility::Kind;
  ops::Visibility visibility;
  visibility.segments = segments;
  switch (options.attention_mask_type) {
    case config::AttentionMaskType::automatic:
      visibility.kind = options.diffusion() ? Kind::full : Kind::causal;
      break;
    case config::AttentionMaskType::causal:
      visibility.kind = Kind::causal;
      break;
    case config::AttentionMaskType::full:
      visibility.kind = Kind::full;
      break;
    case config::AttentionMaskType::block_causal:
      visibility.kind = Kind::block_causal;
      visibility.block_size = options.attention_block_size;
      break;
  }
  return visibility;
}

}  // namespace megadlm::objectives
