#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/option.h"

namespace megadlm::config {

/// Which masked positions a denoising step commits.
enum class Remasking { low_confidence, random, entropy, margin };
template <>
struct EnumNames<Remasking> {
  static constexpr std::array value{std::pair{Remasking::low_confidence, std::string_view("low_confidence")},
                                    std::pair{Remasking::random, std::string_view("random")},
                                    std::pair{Remasking::entropy, std::string_view("entropy")},
                                    std::pair{Remasking::margin, std::string_view("margin")}};
};

struct GenerationOptions {
  static constexpr std::string_view group = "Generation";
  std::string load;
  std::vector<std::string> prompt;
  std::string infill;
  int64_t num_samples = 1;
  int64_t gen_length = 128;
  int64_t steps = 0;
  int64_t block_length = 0;
  double temperature = 0.0;
  double cfg_scale = 0.0;
  Remasking remasking = Remasking::low_confidence;
  int64_t seed = 1234;
  bool watch = false;
  bool json = false;
  int64_t num_threads = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.load, "load", "Folder of checkpoints, or of one checkpoint.");
    option(self.prompt, "prompt", "Text to go on from. Absent: unconditional.");
    option(
        self.infill, "infill",
        "Text with gaps: [MASK] is one masked token, [MASK:12] twelve. The gaps are filled, the rest stays.");
    option(self.num_samples, "num-samples", "Samples of each prompt.", at_least(1));
    option(self.gen_length, "gen-length", "New tokens.", at_least(1));
    option(self.steps, "steps", "Denoising steps over all blocks. 0: one a new token.", at_least(0));
    option(self.block_length, "block-length", "Blocks are filled from left to right. 0: one block.",
           at_least(0));
    option(self.temperature, "temperature", "Gumbel noise on the logits as in LLaDA. 0: greedy.",
           at_least(0));
    option(self.cfg_scale, "cfg-scale",
           "Classifier-free guidance: logits = uncond + (scale + 1) (cond - uncond).", at_least(0));
    option(self.remasking, "remasking", "Which masked positions a step commits.");
    option(self.seed, "seed", "Seed of every random number.", at_least(0));
    option(self.watch, "watch", "Show the text as it is denoised.");
    option(self.json, "json", "Print JSON.");
    option(self.num_threads, "num-threads", "Processor threads. 0: one a core.", at_least(0));
  }
};

struct EvaluationOptions {
  static constexpr std::string_view group = "Evaluation";
  std::string load;
  std::string data_path;
  int64_t text_bytes = 0;
  int64_t seq_length = 0;
  int64_t batch_size = 8;
  int64_t num_draws = 8;
  int64_t seed = 1234;
  bool json = false;
  int64_t num_threads = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.load, "load", "Folder of checkpoints, or of one checkpoint.");
    option(self.data_path, "data-path", "Prefix of the .bin/.idx pair to evaluate on.");
    option(
        self.text_bytes, "text-bytes",
        "UTF-8 bytes of the text behind --data-path, for bits per byte. 0: as preprocessing recorded them.",
        at_least(0));
    option(self.seq_length, "seq-length", "Tokens in a row. 0: as in training.", at_least(0));
    option(self.batch_size, "batch-size", "Rows of one forward pass.", at_least(1));
    option(self.num_draws, "num-draws", "Masking times of each row, stratified over (0, 1].", at_least(1));
    option(self.seed, "seed", "Seed of the noise.", at_least(0));
    option(self.json, "json", "Print JSON.");
    option(self.num_threads, "num-threads", "Processor threads. 0: one a core.", at_least(0));
  }
};

}  // namespace megadlm::config
