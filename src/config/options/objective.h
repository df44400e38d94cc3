#pragma once

#include "config/option.h"

namespace megadlm::config {

/// MegaDLMs' running modes: which objective a decoder is trained with.
enum class RunningMode { autoregressive, diffusion_shifted, diffusion_unshifted };
template <>
struct EnumNames<RunningMode> {
  static constexpr std::array value{
      std::pair{RunningMode::autoregressive, std::string_view("gpt")},
      std::pair{RunningMode::diffusion_shifted, std::string_view("difflm-shift")},
      std::pair{RunningMode::diffusion_unshifted, std::string_view("difflm-noshift")},
      // MegaDLMs' word for gpt.
      std::pair{RunningMode::autoregressive, std::string_view("vanilla")}};
};

/// `automatic`: causal for gpt, full for the difflm modes.
enum class AttentionMaskType { automatic, causal, full, block_causal };
template <>
struct EnumNames<AttentionMaskType> {
  static constexpr std::array value{
      std::pair{AttentionMaskType::automatic, std::string_view("auto")},
      std::pair{AttentionMaskType::causal, std::string_view("causal")},
      std::pair{AttentionMaskType::full, std::string_view("no_mask")},
      std::pair{AttentionMaskType::block_causal, std::string_view("block_causal")},
      // Megatron-LM's word for causal where keys are no more than queries.
      std::pair{AttentionMaskType::causal, std::string_view("causal_bottom_right")}};
};

enum class DiffusionWeight { exact_fraction, drawn_time };
template <>
struct EnumNames<DiffusionWeight> {
  static constexpr std::array value{
      std::pair{DiffusionWeight::exact_fraction, std::string_view("exact_fraction")},
      std::pair{DiffusionWeight::drawn_time, std::string_view("drawn_time")}};
};

/// `uniform`: independent draws. `stratified`: u_n = frac(u_0 + n x golden ratio) over sample numbers n,
/// evenly spread over any run of consecutive samples, so also over each batch on every layout.
enum class DiffusionTimeSampling { uniform, stratified };
template <>
struct EnumNames<DiffusionTimeSampling> {
  static constexpr std::array value{
      std::pair{DiffusionTimeSampling::uniform, std::string_view("uniform")},
      std::pair{DiffusionTimeSampling::stratified, std::string_view("stratified")}};
};

struct ObjectiveOptions {
  static constexpr std::string_view group = "Objective";
  RunningMode model_running_mode = RunningMode::autoregressive;
  AttentionMaskType attention_mask_type = AttentionMaskType::automatic;
  int64_t attention_block_size = 32;
  DiffusionWeight difflm_loss_weight = DiffusionWeight::exact_fraction;
  DiffusionTimeSampling difflm_time_sampling = DiffusionTimeSampling::uniform;
  double difflm_time_epsilon = 1e-3;
  double difflm_varilen_prob = 0.0;

  bool diffusion() const { return model_running_mode != RunningMode::autoregressive; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(
        self.model_running_mode, "model-running-mode",
        "Objective: autoregressive, masked diffusion whose output i-1 predicts position i (Dream), or whose "
        "output i does (LLaDA, MDLM).");
    option(self.attention_mask_type, "attention-mask-type",
           "Which positions see which. auto: causal for gpt, else no_mask.");
    option(self.attention_block_size, "attention-block-size", "Tokens in a block of the block_causal mask.",
           at_least(1));
    option(self.difflm_loss_weight, "difflm-loss-weight",
           "Weight 1/p of a masked position: p the row's exact masked fraction (MegaDLMs), or the drawn time "
           "(LLaDA).");
    option(self.difflm_time_sampling, "difflm-time-sampling", "How masking times are drawn over samples.");
    option(self.difflm_time_epsilon, "difflm-time-epsilon",
           "Masking times are t = (1 - epsilon) u + epsilon, u in [0, 1).", below(0, 1));
    option(
        self.difflm_varilen_prob, "difflm-varilen-prob",
        "Probability that a batch's rows are cut to a common length, uniform in {2, ..., sequence length}.",
        between(0, 1));
  }
};

}  // namespace megadlm::config
