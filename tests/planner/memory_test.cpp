#include "planner/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "planner/memory/report.h"

namespace megadlm::planner {
namespace {

using testing::HasSubstr;

config::Architecture architecture() {
  config::Architecture architecture;
  architecture.num_layers = 2;
  architecture.hidden_size = 64;
  architecture.num_attention_heads = 4;
  architecture.group_query_attention = true;
  architecture.num_query_groups = 2;
  architecture.ffn_hidden_size = 96;
  architecture.swiglu = architecture.disable_bias_linear = true;
  architecture.normalization = config::Normalization::rms_norm;
  architecture.position_embedding_type = config::PositionEmbedding::rope;
  return config::resolve(architecture, 32, 500, 512);
}

constexpr TrainingShape kShape{.micro_batch_size = 2, .global_batch_size = 2, .seq_length = 32};

TEST(MemoryTest, StatesFollowTheParameters) {
  const double parameters = 512 * 64 + 2 * (64 * 128 + 64 * 64 + 3 * 64 * 96 + 2 * 64) + 64;
  const MemoryEstimate plain = estimate_memory(architecture(), kShape);
  EXPECT_EQ(plain.masters, 4 * parameters);
  EXPECT_EQ(plain.weights, 0);
  EXPECT_EQ(plain.gradients, 4 * parameters);
  EXPECT_EQ(plain.optimizer_states, 8 * parameters);

  TrainingShape shape = kShape;
  shape.precision = config::Precision::bf16;
  shape.global_batch_size = 8;
  const MemoryEstimate mixed = estimate_memory(architecture(), shape);
  EXPECT_EQ(mixed.weights, 2 * parameters);
  EXPECT_EQ(mixed.gradients, 6 * parameters);
  EXPECT_EQ(mixed.activations, plain.activations / 2);
}

TEST(MemoryTest, ActivationsFollowTheTokens) {
  const MemoryEstimate one = estimate_memory(architecture(), kShape);
  const double layer = 2 * 64 + (64 + 2 * 32) + 64 + 2 * 96;
  EXPECT_EQ(one.activations, 4 * 64 * (2 * layer + 3 * 64));
  TrainingShape shape = kShape;
  shape.micro_batch_size = 4;
  EXPECT_EQ(estimate_memory(architecture(), shape).activations, 2 * one.activations);
  EXPECT_EQ(one.total(),
            one.weights + one.masters + one.gradients + one.optimizer_states + one.activations + one.logits);
}

TEST(MemoryTest, LogitsComeInChunks) {
  TrainingShape shape = kShape;
  shape.seq_length = 32;
  shape.micro_batch_size = 1000;
  const double many = estimate_memory(architecture(), shape).logits;
  EXPECT_LT(many, 4.0 * 32000 * 512);
}

TEST(MemoryTest, TooLittleMemory) {
  const MemoryEstimate estimate = estimate_memory(architecture(), kShape);
  check_memory(estimate, uint64_t{1} << 30);
  const auto error = [&](uint64_t bytes) -> std::string {
    try {
      check_memory(estimate, bytes);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error(7 << 18), HasSubstr("this machine has 1.75 MiB"));
  EXPECT_THAT(error(7 << 18), HasSubstr("--micro-batch-size"));
  EXPECT_THAT(error(1 << 20), HasSubstr("lower --num-layers or --hidden-size"));
}

TEST(MemoryTest, FormatOfBytes) {
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(3.0 * (1 << 30)), "3.00 GiB");
}

TEST(ReportTest, NamesEveryPart) {
  const std::string text = dry_run_report(architecture(), kShape, 0.5, uint64_t{8} << 30, "num_layers: 2\n");
  EXPECT_THAT(text, HasSubstr("attention                       24,576\n"));
  EXPECT_THAT(text, HasSubstr("tied to the embedding"));
  EXPECT_THAT(text, HasSubstr("tokens                              64\n"));
  EXPECT_THAT(text, HasSubstr("this machine                  8.00 GiB\n"));
  EXPECT_THAT(text, HasSubstr("\nConfiguration\nnum_layers: 2\n"));
}

}  // namespace
}  // namespace megadlm::planner
