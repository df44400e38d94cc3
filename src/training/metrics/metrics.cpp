#include "training/metrics/metrics.h"

#include <sys/resource.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "training/metrics/tensorboard.h"

namespace megadlm::training {
namespace {

namespace fs = std::filesystem;

nlohmann::json to_json(const StepMetrics& metrics) {
  nlohmann::json json = {{"iteration", metrics.iteration},
                         {"consumed_samples", metrics.consumed_samples},
                         {"consumed_tokens", metrics.consumed_tokens},
                         {"skipped_iterations", metrics.skipped_iterations},
                         {"loss", metrics.loss},
                         {"grad_norm", metrics.grad_norm},
                         {"learning_rate", metrics.learning_rate},
                         {"tokens_per_second", metrics.tokens_per_second},
                         {"model_flops_per_second", metrics.model_flops_per_second},
                         {"mfu", metrics.mfu},
                         {"peak_memory_bytes", metrics.peak_memory_bytes},
                         {"minor_faults_per_step", metrics.minor_faults_per_step}};
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) json[key] = *value;
  };
  add("loss_scale", metrics.loss_scale);
  add("valid_loss", metrics.valid_loss);
  add("valid_loss_stderr", metrics.valid_loss_stderr);
  add("valid_bits_per_byte", metrics.valid_bits_per_byte);
  return json;
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole >= 86400) return fmt::format("{}d {:02}h", whole / 86400, whole % 86400 / 3600);
  if (whole >= 3600) return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}m {:02}s", whole / 60, whole % 60);
}

/// Keeps the lines up to an iteration; a last line that was cut off by a crash goes too.
void keep_lines_until(const fs::path& path, int64_t iteration) {
  if (!fs::exists(path)) return;
  std::ifstream file(path);
  std::string line, kept;
  while (std::getline(file, line)) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.value("iteration", std::numeric_limits<int64_t>::max()) <= iteration)
      kept += line + "\n";
  }
  base::write_file(path, kept);
}

}  // namespace

std::string format_log_line(const StepMetrics& metrics) {
  std::string line = metrics.total_iterations == std::numeric_limits<int64_t>::max()
                         ? fmt::format("iteration {}", metrics.iteration)
                         : fmt::format("iteration {}/{}", metrics.iteration, metrics.total_iterations);
  line += fmt::format(
      " | loss {:.4f} | lr {:.3e} | grad norm {:.3f} | {:.0f} tokens/s | {:.3f} TFLOP/s | MFU {:.1f} % | "
      "memory {:.2f} GiB | left {}",
      metrics.loss, metrics.learning_rate, metrics.grad_norm, metrics.tokens_per_second,
      metrics.model_flops_per_second / 1e12, 100 * metrics.mfu,
      static_cast<double>(metrics.peak_memory_bytes) / (1 << 30), format_duration(metrics.seconds_left));
  if (metrics.loss_scale) line += fmt::format(" | loss scale {:g}", *metrics.loss_scale);
  if (metrics.skipped_iterations > 0) line += fmt::format(" | skipped {}", metrics.skipped_iterations);
  if (metrics.valid_loss) {
    line += fmt::format(" | valid loss {:.4f} ± {:.4f}", *metrics.valid_loss,
                        metrics.valid_loss_stderr.value_or(0));
  }
  if (metrics.valid_bits_per_byte) line += fmt::format(" ({:.4f} bits/byte)", *metrics.valid_bits_per_byte);
  return line;
}

int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

int64_t minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

MetricsWriter::MetricsWriter(const std::string& folder, const std::string& tensorboard_folder,
                             int64_t resumed_iteration) {
  if (!folder.empty()) {
    path_ = fs::path(folder) / "metrics.jsonl";
    keep_lines_until(path_, resumed_iteration);
  }
  if (!tensorboard_folder.empty()) tensorboard_ = std::make_unique<TensorboardWriter>(tensorboard_folder);
}

MetricsWriter::~MetricsWriter() = default;

void MetricsWriter::write(const StepMetrics& metrics) {
  const nlohmann::json json = to_json(metrics);
  if (!path_.empty()) {
    fs::create_directories(path_.parent_path());
    std::ofstream file(path_, std::ios::app);
    file << json.dump() << '\n' << std::flush;
    base::require(file.good(), "{}: cannot write", path_.string());
  }
  if (!tensorboard_) return;
  for (const auto& [key, value] : json.items()) {
    if (key != "iteration") tensorboard_->scalar(key, metrics.iteration, value.get<float>());
  }
  tensorboard_->flush();
}

}  // namespace megadlm::training
