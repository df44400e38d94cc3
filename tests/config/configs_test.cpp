// Every file of configs/ parses, and the shapes in configs/models are the published ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "config/parser.h"
#include "config/pretrain_options.h"

namespace megadlm::config {
namespace {

namespace fs = std::filesystem;

fs::path configs() { return fs::path(__FILE__).parent_path() / "../../configs"; }

Architecture model(const std::string& name, int64_t vocabulary) {
  PretrainOptions groups;
  Parser parser("pretrain", "Train.");
  groups.add_to(parser);
  parser.parse({"--config", (configs() / "models" / (name + ".yaml")).string()});
  return resolve(groups.model, groups.data.seq_length, vocabulary, vocabulary);
}

TEST(ConfigsTest, ModelsHaveTheirSizes) {
  const std::map<std::string, std::pair<int64_t, int64_t>> expected{{"dlm-79m", {50304, 78784000}},
                                                                    {"smollm2-135m", {49152, 134515008}},
                                                                    {"qwen3-0.6b", {151936, 596049920}},
                                                                    {"llada-8b", {126464, 8015581184}}};
  for (const auto& [name, numbers] : expected) {
    EXPECT_EQ(count_parameters(model(name, numbers.first)).total(), numbers.second) << name;
  }
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(configs() / "models"))
    files += entry.path().extension() == ".yaml";
  EXPECT_EQ(files, expected.size()) << "a model without its size here";
}

TEST(ConfigsTest, RecipesAreInOrderForSomeModelAndData) {
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(configs() / "recipes")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    PretrainOptions groups;
    Parser parser("pretrain", "Train.");
    groups.add_to(parser);
    const std::string model = (configs() / "models/dlm-79m.yaml").string();
    EXPECT_NO_THROW(parser.parse({"--config", model, entry.path().string()})) << entry.path();
    if (groups.data.data_path.empty()) groups.data.data_path = {"corpus"};
    if (groups.tokenizer.tokenizer_model.empty()) groups.tokenizer.tokenizer_model = "tokenizer.json";
    if (groups.checkpoint.save.empty()) groups.checkpoint.save = "run";
    EXPECT_NO_THROW(groups.validate()) << entry.path();
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace megadlm::config
