#include "training/metrics/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "support/temporary_folder.h"

namespace megadlm::training {
namespace {

using megadlm::testing::read_all;
using megadlm::testing::TemporaryFolder;

StepMetrics metrics_at(int64_t iteration) {
  StepMetrics metrics;
  metrics.iteration = iteration;
  metrics.total_iterations = 100;
  metrics.loss = 1.5;
  metrics.seconds_left = 3723;
  metrics.tokens_per_second = 12345;
  return metrics;
}

std::vector<int64_t> iterations_in(const std::string& path) {
  std::vector<int64_t> result;
  std::istringstream lines(read_all(path));
  for (std::string line; std::getline(lines, line);)
    result.push_back(nlohmann::json::parse(line)["iteration"]);
  return result;
}

TEST(Metrics, LinesAreWholeObjects) {
  const TemporaryFolder folder;
  MetricsWriter writer(folder.path().string(), "", 0);
  auto metrics = metrics_at(10);
  metrics.valid_loss = 2.5;
  metrics.valid_loss_stderr = 0.1;
  writer.write(metrics);
  const auto json = nlohmann::json::parse(read_all(folder.file("metrics.jsonl")));
  for (const char* key :
       {"iteration", "consumed_samples", "consumed_tokens", "loss", "grad_norm", "learning_rate",
        "tokens_per_second", "model_flops_per_second", "mfu", "peak_memory_bytes", "valid_loss"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_FALSE(json.contains("valid_bits_per_byte"));
  EXPECT_FALSE(json.contains("loss_scale"));
}

TEST(Metrics, AResumedRunContinuesItsRecord) {
  const TemporaryFolder folder;
  {
    MetricsWriter writer(folder.path().string(), "", 0);
    for (const int64_t iteration : {10, 20, 30}) writer.write(metrics_at(iteration));
  }
  std::ofstream(folder.file("metrics.jsonl"), std::ios::app) << "{\"iteration\": 4";
  MetricsWriter writer(folder.path().string(), "", 20);
  writer.write(metrics_at(30));
  EXPECT_EQ(iterations_in(folder.file("metrics.jsonl")), (std::vector<int64_t>{10, 20, 30}));
}

TEST(Metrics, LogLineSaysWhatMatters) {
  auto metrics = metrics_at(10);
  metrics.skipped_iterations = 2;
  metrics.valid_loss = 2.5;
  metrics.valid_bits_per_byte = 1.25;
  const std::string line = format_log_line(metrics);
  for (const char* part : {"iteration 10/100", "loss 1.5000", "12345 tokens/s", "left 1h 02m", "skipped 2",
                           "valid loss 2.5000", "1.2500 bits/byte"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
}

TEST(Metrics, TensorboardFilesHaveTheFormatsFrames) {
  const TemporaryFolder folder;
  {
    MetricsWriter writer("", folder.file("events"), 0);
    writer.write(metrics_at(1));
  }
  std::string content;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("events")))
    content = read_all(entry.path().string());
  size_t frames = 0, position = 0;
  while (position + 12 <= content.size()) {
    uint64_t length = 0;
    std::memcpy(&length, content.data() + position, 8);
    position += 12 + length + 4;
    ++frames;
  }
  EXPECT_EQ(position, content.size());
  EXPECT_GT(frames, 5u);
}

TEST(Metrics, PeakMemoryIsPlausible) { EXPECT_GT(peak_memory_bytes(), 1 << 20); }

}  // namespace
}  // namespace megadlm::training
