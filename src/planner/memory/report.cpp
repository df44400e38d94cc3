#include "planner/memory/report.h"

#include <fmt/format.h>

#include <utility>

namespace megadlm::planner {
namespace {

/// "134,515,008".
std::string with_commas(int64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{},{:03}", with_commas(number / 1000), number % 1000);
}

std::string parameter_lines(const config::ParameterCount& count, bool tied) {
  std::string text;
  for (const auto& [name, value] :
       {std::pair{"embedding", count.embedding}, std::pair{"attention", count.attention},
        std::pair{"feed-forward", count.feed_forward}, std::pair{"norms", count.norms},
        std::pair{"output", count.output}, std::pair{"total", count.total()}}) {
    const bool shared = tied && std::string_view(name) == "output";
    text +=
        fmt::format("  {:18}{:>20}{}\n", name, with_commas(value), shared ? "  (tied to the embedding)" : "");
  }
  return text;
}

std::string memory_lines(const MemoryEstimate& estimate, uint64_t machine_bytes) {
  std::string text;
  for (const auto& [name, value] :
       {std::pair{"weights", estimate.weights}, std::pair{"master weights", estimate.masters},
        std::pair{"gradients", estimate.gradients}, std::pair{"optimizer states", estimate.optimizer_states},
        std::pair{"activations", estimate.activations}, std::pair{"logits", estimate.logits},
        std::pair{"total", estimate.total()},
        std::pair{"this machine", static_cast<double>(machine_bytes)}}) {
    text += fmt::format("  {:18}{:>20}\n", name, format_bytes(value));
  }
  return text;
}

}  // namespace

std::string dry_run_report(const config::Architecture& architecture, const TrainingShape& shape,
                           double head_fraction, uint64_t machine_bytes, const std::string& config_yaml) {
  const int64_t tokens = shape.global_batch_size * shape.seq_length;
  const double flops = config::training_flops(architecture, shape.global_batch_size, shape.seq_length,
                                              head_fraction * static_cast<double>(tokens));
  std::string text = "Parameters\n";
  text += parameter_lines(config::count_parameters(architecture),
                          !architecture.untie_embeddings_and_output_weights);
  text += fmt::format("\nOne step\n  {:18}{:>20}\n  {:18}{:>14.4g} TFLOP\n", "tokens", with_commas(tokens),
                      "work", flops / 1e12);
  text += "\nMemory (estimate)\n" + memory_lines(estimate_memory(architecture, shape), machine_bytes);
  text += "\nConfiguration\n" + config_yaml;
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace megadlm::planner
