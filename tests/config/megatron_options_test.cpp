#include "config/megatron_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/error.h"
#include "config/parser.h"
#include "config/pretrain_options.h"

namespace megadlm::config {
namespace {

using testing::HasSubstr;
using testing::Not;

class MegatronOptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    earlier_ = spdlog::default_logger();
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_st>(log_)));
  }
  void TearDown() override { spdlog::set_default_logger(earlier_); }

  /// Parses; the error's text, or "no error".
  std::string parse(const std::vector<std::string>& arguments) {
    groups_ = {};
    Parser parser("pretrain", "Train.");
    groups_.add_to(parser);
    try {
      parser.parse(arguments);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.what();
    }
    return "no error";
  }

  PretrainOptions groups_;
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> earlier_;
};

TEST_F(MegatronOptionsTest, TableIsConsistent) {
  std::set<std::string_view> names;
  PretrainOptions groups;
  Parser parser("pretrain", "Train.");
  groups.add_to(parser);
  for (const MegatronOption& option : megatron_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name << " is there twice";
    EXPECT_EQ(option.name.find('_'), std::string_view::npos) << option.name;
    const bool alias = option.handling == MegatronOption::Handling::alias;
    EXPECT_EQ(alias, option.reason.empty()) << option.name;
    EXPECT_EQ(alias || option.handling == MegatronOption::Handling::only, !option.accepted.empty())
        << option.name;
    if (alias) {
      EXPECT_TRUE(parser.json().contains(key_of(option.target()))) << option.name;
    }
  }
  EXPECT_GT(names.size(), 400u);
}

TEST_F(MegatronOptionsTest, LaunchScriptOfMegaDlms) {
  // What the authors' 1.7 B script passes, with the sizes of a test.
  std::istringstream words(
      "--seq-length 2048 --attention-backend flash --attention-softmax-in-fp32 --attention-dropout 0.0 "
      "--hidden-dropout 0.0 --no-bias-gelu-fusion --no-bias-dropout-fusion --no-bias-swiglu-fusion "
      "--num-layers 28 "
      "--hidden-size 2048 --num-attention-heads 16 --ffn-hidden-size 6144 --swiglu --normalization RMSNorm "
      "--max-position-embeddings 2048 --norm-epsilon 1e-6 --rotary-base 10000 --disable-bias-linear "
      "--position-embedding-type rope --qk-layernorm --untie-embeddings-and-output-weights "
      "--micro-batch-size 4 --global-batch-size 256 --train-iters 1000 --weight-decay 0.1 --adam-beta1 0.9 "
      "--adam-beta2 0.95 --init-method-std 0.02 --clip-grad 1.0 --bf16 --lr 0.0002 --min-lr 0.00002 "
      "--lr-decay-style WSD --lr-warmup-iters 200 --lr-decay-iters 1000 --lr-wsd-decay-style exponential "
      "--lr-wsd-decay-iters 100 --use-distributed-optimizer --num-distributed-optimizer-instances 1 "
      "--rerun-mode validate_results --overlap-param-gather --overlap-grad-reduce "
      "--distributed-timeout-minutes 60 "
      "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 "
      "--train-data-path data/train --valid-data-path data/valid --data-cache-path cache "
      "--tokenizer-type HuggingFaceTokenizer --tokenizer-model tokenizer "
      "--log-interval 50 --log-params-norm --log-num-zeros-in-grad --log-throughput --log-progress "
      "--log-timers-to-tensorboard --log-validation-ppl-to-tensorboard --log-memory-to-tensorboard "
      "--save-interval 100 --non-persistent-save-interval 2000 --non-persistent-ckpt-type global "
      "--non-persistent-global-ckpt-dir out/non_persistent --ckpt-format torch_dist "
      "--auto-detect-ckpt-format "
      "--ckpt-fully-parallel-load --eval-interval 100 --save out --load out --eval-iters 10 "
      "--tensorboard-dir tb "
      "--wandb-project dlm --wandb-exp-name x --wandb-run-id x --wandb-save-dir wandb --wandb-mode offline "
      "--wandb-tags dlm --wandb-notes training --wandb-resume allow "
      "--model-running-mode difflm-noshift --base-model vanilla --mask-token 50277 --attention-mask-type "
      "no_mask");
  EXPECT_EQ(parse({std::istream_iterator<std::string>(words), {}}), "no error");
  groups_.validate();
  EXPECT_EQ(groups_.data.data_path, std::vector<std::string>{"data/train"});
  EXPECT_EQ(groups_.checkpoint.save_interval, 100);
  EXPECT_THAT(log_.str(),
              HasSubstr("--attention-backend flash: ignored: each operation picks its kernel itself"));
  EXPECT_THAT(log_.str(), HasSubstr("--overlap-grad-reduce: ignored: one process"));
  EXPECT_THAT(log_.str(), HasSubstr("--tensor-model-parallel-size 1: ignored"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("--train-data-path")));
  EXPECT_THAT(log_.str(), Not(HasSubstr("--num-layers")));
}

TEST_F(MegatronOptionsTest, Refused) {
  EXPECT_EQ(parse({"--tensor-model-parallel-size", "2"}),
            "--tensor-model-parallel-size: '2' is not supported, only 1: one process trains");
  EXPECT_EQ(parse({"--num-experts", "8"}), "--num-experts 8: not supported: there are no experts");
  EXPECT_THAT(parse({"--fp8-format", "hybrid"}), HasSubstr("there is no FP8"));
  EXPECT_THAT(parse({"--rampup-batch-size", "16", "16", "1000"}),
              HasSubstr("--rampup-batch-size 16 16 1000"));
  EXPECT_THAT(parse({"--tokenizer-type", "GPT2BPETokenizer"}),
              HasSubstr("not one of HuggingFaceTokenizer, NullTokenizer"));
  EXPECT_THAT(parse({"--exp-avg-dtype", "fp8"}), HasSubstr("only fp32"));
}

TEST_F(MegatronOptionsTest, Positions) {
  EXPECT_EQ(parse({"--use-rotary-position-embeddings"}), "no error");
  EXPECT_EQ(groups_.model.position_embedding_type, PositionEmbedding::rope);
  EXPECT_EQ(parse({"--use-rotary-position-embeddings", "--no-position-embedding"}), "no error");
  EXPECT_EQ(groups_.model.position_embedding_type, PositionEmbedding::rope);
  EXPECT_EQ(parse({"--position-embedding-type", "rope", "--no-position-embedding"}), "no error");
  EXPECT_EQ(groups_.model.position_embedding_type, PositionEmbedding::rope);
  EXPECT_EQ(parse({"--no-position-embedding"}), "no error");
  EXPECT_EQ(groups_.model.position_embedding_type, PositionEmbedding::none);
  EXPECT_EQ(parse({"--no-position-embedding", "--position-embedding-type", "learned_absolute"}),
            "--no-position-embedding: contradicts --position-embedding-type learned_absolute");
  EXPECT_EQ(parse({"--use-rotary-position-embeddings", "--position-embedding-type", "none"}),
            "--use-rotary-position-embeddings: contradicts --position-embedding-type none");
}

TEST_F(MegatronOptionsTest, OtherSpellings) {
  EXPECT_EQ(parse({"--layernorm-epsilon", "1e-6", "--encoder-num-layers", "3"}), "no error");
  EXPECT_EQ(groups_.model.norm_epsilon, 1e-6);
  EXPECT_EQ(groups_.model.num_layers, 3);
  EXPECT_THAT(parse({"--layernorm-epsilon", "0"}), HasSubstr("--layernorm-epsilon: 0 is out of range"));
  EXPECT_EQ(parse({"--model-running-mode", "vanilla", "--attention-mask-type", "causal_bottom_right"}),
            "no error");
  EXPECT_EQ(groups_.objective.model_running_mode, RunningMode::autoregressive);
  EXPECT_EQ(groups_.objective.attention_mask_type, AttentionMaskType::causal);
}

TEST_F(MegatronOptionsTest, InFilesToo) {
  const auto path = std::filesystem::temp_directory_path() / "megadlm_megatron_options.yaml";
  std::ofstream(path)
      << "use_flash_attn: true\nsequence_parallel: false\ntrain_data_path: [a, b]\nnum_workers: 7\n";
  EXPECT_EQ(parse({"--config", path.string()}), "no error");
  EXPECT_THAT(log_.str(), HasSubstr("megadlm_megatron_options.yaml:1: use_flash_attn: ignored"));
  EXPECT_THAT(log_.str(), HasSubstr("num_workers 7: ignored"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("sequence_parallel")));
  EXPECT_EQ(groups_.data.data_path, (std::vector<std::string>{"a", "b"}));
  std::ofstream(path) << "num_experts: 8\n";
  EXPECT_THAT(parse({"--config", path.string()}),
              HasSubstr("megadlm_megatron_options.yaml:1: num_experts 8: not"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace megadlm::config
