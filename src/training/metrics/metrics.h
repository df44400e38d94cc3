#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace megadlm::training {

/// What is said at each log interval. Averages are over the interval.
struct StepMetrics {
  int64_t iteration = 0, total_iterations = 0;
  int64_t consumed_samples = 0, consumed_tokens = 0, skipped_iterations = 0;
  double loss = 0;  ///< nats per token
  double grad_norm = 0, learning_rate = 0;
  double tokens_per_second = 0, model_flops_per_second = 0;
  double mfu = 0;  ///< share of the measured GEMM peak
  int64_t peak_memory_bytes = 0;
  double minor_faults_per_step = 0;  ///< pages that the process touched for the first time
  double seconds_left = 0;
  std::optional<double> loss_scale;  ///< fp16 only
  std::optional<double> valid_loss, valid_loss_stderr, valid_bits_per_byte;
};

/// `iteration 100/1000 | loss 4.1234 | ...`.
std::string format_log_line(const StepMetrics& metrics);

/// The largest resident memory of this process so far.
int64_t peak_memory_bytes();
/// Page faults of this process so far that needed no disk.
int64_t minor_faults();

class TensorboardWriter;

/// Appends each interval to FOLDER/metrics.jsonl and to a TensorBoard event file.
class MetricsWriter {
 public:
  /// Either folder may be empty: nothing is written there. Lines of metrics.jsonl after `resumed_iteration`
  /// are dropped, so that a resumed run continues its own record.
  MetricsWriter(const std::string& folder, const std::string& tensorboard_folder, int64_t resumed_iteration);
  ~MetricsWriter();

  void write(const StepMetrics& metrics);

 private:
  std::filesystem::path path_;
  std::unique_ptr<TensorboardWriter> tensorboard_;
};

}  // namespace megadlm::training
