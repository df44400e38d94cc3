#include "config/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace megadlm::config {

enum class Fruit { apple, pear };
template <>
struct EnumNames<Fruit> {
  static constexpr std::array value{std::pair{Fruit::apple, std::string_view("apple")},
                                    std::pair{Fruit::pear, std::string_view("pear-tree")}};
};

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Sample {
  static constexpr std::string_view group = "Sample";
  int64_t hidden_size = 8;
  double lr = 0.5;
  double share = 0.25;
  bool swiglu = false;
  bool no_save = false;
  std::string name = "x";
  Fruit fruit = Fruit::apple;
  std::vector<std::string> data_path;
  std::vector<int64_t> sizes;
  std::optional<int64_t> train_iters;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.hidden_size, "hidden-size", "Width.", at_least(1));
    option(self.lr, "lr", "Rate.", positive());
    option(self.share, "share", "Share.", below(0, 1));
    option(self.swiglu, "swiglu", "Gate.");
    option(self.no_save, "no-save", "Nothing is saved.");
    option(self.name, "name", "Name.");
    option(self.fruit, "fruit", "Kind.");
    option(self.data_path, "data-path", "Data.");
    option(self.sizes, "sizes", "Sizes.", at_least(2));
    option(self.train_iters, "train-iters", "Steps.", at_least(1));
  }
};

class ParserTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / (std::string("megadlm_parser_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  /// The error's text, after checking that it means wrong usage.
  std::string error(const std::vector<std::string>& arguments, bool megatron = false) {
    Sample sample;
    Parser parser("sample", "A sample.");
    parser.add(sample);
    if (megatron) parser.accept_megatron_options();
    try {
      parser.parse(arguments);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << error.what();
      return error.what();
    }
    return "no error";
  }

  Sample parse(const std::vector<std::string>& arguments) {
    Sample sample;
    Parser parser("sample", "A sample.");
    parser.add(sample);
    EXPECT_TRUE(parser.parse(arguments));
    return sample;
  }

  std::filesystem::path folder_;
};

TEST_F(ParserTest, FlagsOfEveryType) {
  const Sample sample =
      parse({"--hidden-size", "64", "--lr=3e-4", "--swiglu", "--name", "-x y", "--fruit", "pear-tree",
             "--data_path", "a", "b", "--sizes", "2", "3", "--train-iters", "10", "--no-save"});
  EXPECT_EQ(sample.hidden_size, 64);
  EXPECT_EQ(sample.lr, 3e-4);
  EXPECT_TRUE(sample.swiglu);
  EXPECT_TRUE(sample.no_save);
  EXPECT_EQ(sample.name, "-x y");
  EXPECT_EQ(sample.fruit, Fruit::pear);
  EXPECT_THAT(sample.data_path, ElementsAre("a", "b"));
  EXPECT_THAT(sample.sizes, ElementsAre(2, 3));
  EXPECT_EQ(sample.train_iters, 10);
}

TEST_F(ParserTest, SpellingsOfBooleans) {
  EXPECT_FALSE(parse({}).swiglu);
  EXPECT_FALSE(parse({"--swiglu=false"}).swiglu);
  EXPECT_FALSE(parse({"--swiglu", "--no-swiglu"}).swiglu);
  EXPECT_TRUE(parse({"--no-swiglu", "--swiglu"}).swiglu);
  EXPECT_EQ(error({"--swiglu=maybe"}), "--swiglu: 'maybe' is not true or false");
}

TEST_F(ParserTest, LastScalarWinsAndListsAppend) {
  const Sample sample =
      parse({"--hidden_size", "3", "--data-path", "a", "--hidden-size", "4", "--data-path", "b"});
  EXPECT_EQ(sample.hidden_size, 4);
  EXPECT_THAT(sample.data_path, ElementsAre("a", "b"));
}

TEST_F(ParserTest, TextIsTakenAsItIs) {
  EXPECT_THAT(parse({"--data-path", "[MASK] a, b [MASK]", "--name", "[a,b]"}).data_path,
              ElementsAre("[MASK] a, b [MASK]"));
  EXPECT_EQ(parse({"--name", "[a,b]"}).name, "[a,b]");
  EXPECT_EQ(parse({"--name=", "--hidden-size", "4"}).name, "");
  EXPECT_EQ(parse({"--name", ""}).name, "");
  EXPECT_EQ(parse({"--name", "{}"}).name, "{}");
}

TEST_F(ParserTest, FileThenFlags) {
  const std::string first =
      file("first.yaml", "hidden-size: 16\nlr: 1e-3\nswiglu: true\ndata_path: [a, 'b c']\n");
  const std::string second = file("second.yaml", "# again\nhidden_size: 32\ntrain_iters: 5\n");
  const Sample sample = parse({"--config", first, "--lr", "2", "--config", second});
  EXPECT_EQ(sample.hidden_size, 32);
  EXPECT_EQ(sample.lr, 2.0);
  EXPECT_TRUE(sample.swiglu);
  EXPECT_THAT(sample.data_path, ElementsAre("a", "b c"));
  EXPECT_EQ(parse({"--config", second, "--train-iters", "none"}).train_iters, std::nullopt);
  EXPECT_EQ(parse({"--config", file("empty.yaml", "# nothing\n")}).hidden_size, 8);
}

TEST_F(ParserTest, Given) {
  Sample sample;
  Parser parser("sample", "A sample.");
  parser.add(sample);
  parser.parse({"--config", file("a.yaml", "lr: 1\n"), "--hidden-size", "8"});
  EXPECT_TRUE(parser.given("lr"));
  EXPECT_TRUE(parser.given("hidden-size"));
  EXPECT_FALSE(parser.given("swiglu"));
}

TEST_F(ParserTest, ErrorsOfFlags) {
  EXPECT_THAT(error({"--hiden-size", "4"}), "--hiden-size: unknown option; did you mean --hidden-size?");
  EXPECT_THAT(error({"--hidden_sizes=4"}), HasSubstr("did you mean --hidden-size?"));
  EXPECT_THAT(error({"--zzzzzzzzzz"}), "--zzzzzzzzzz: unknown option; see megadlm sample --help");
  EXPECT_THAT(error({"stray"}), HasSubstr("'stray': unexpected argument"));
  EXPECT_THAT(error({"--"}), HasSubstr("'--': unexpected argument"));
  EXPECT_THAT(error({"--="}), HasSubstr("'--=': unexpected argument"));
  EXPECT_THAT(error({"--=x"}), HasSubstr("--: unknown option"));
  EXPECT_THAT(error({"-x"}), HasSubstr("-x: unknown option"));
  EXPECT_THAT(error({"--hidden-size"}), HasSubstr("--hidden-size: its value is missing"));
  EXPECT_THAT(error({"--hidden-size", "4x"}), "--hidden-size: '4x' is not a whole number of at least 1");
  EXPECT_THAT(error({"--hidden-size", "1_000"}), HasSubstr("'1_000' is not"));
  EXPECT_THAT(error({"--hidden-size", "1e3"}), HasSubstr("'1e3' is not"));
  EXPECT_THAT(error({"--hidden-size", "99999999999999999999"}), HasSubstr("99999999999999999999"));
  EXPECT_THAT(error({"--hidden-size", "0"}),
              "--hidden-size: 0 is out of range: give a whole number of at least 1");
  EXPECT_THAT(error({"--hidden-size", "-4"}), HasSubstr("--hidden-size: -4 is out of range"));
  EXPECT_THAT(error({"--lr", "nan"}), HasSubstr("--lr: 'nan' is not a number above 0"));
  EXPECT_THAT(error({"--share", "1"}),
              HasSubstr("--share: 1 is out of range: give a number from 0 to below 1"));
  EXPECT_THAT(error({"--fruit", "plum"}), "--fruit: 'plum' is not one of apple, pear-tree");
  EXPECT_THAT(error({"--sizes", "3", "1"}), HasSubstr("--sizes: 1 is out of range"));
  EXPECT_THAT(error({"--no-hidden-size"}), HasSubstr("unknown option"));
}

TEST_F(ParserTest, ErrorsOfFiles) {
  const auto config = [&](const std::string& text) { return error({"--config", file("bad.yaml", text)}); };
  EXPECT_THAT(config("lr: 1\nhiden_size: 4\n"),
              HasSubstr("bad.yaml:2: hiden_size: unknown option; did you mean "
                        "hidden_size?"));
  EXPECT_THAT(config("lr: 1\n\nlr: 2\n"), HasSubstr("bad.yaml:3: lr: given twice, first at"));
  EXPECT_THAT(config("hidden_size: 4\nhidden-size: 4\n"), HasSubstr("given twice"));
  EXPECT_THAT(config("lr: fast\n"), HasSubstr("bad.yaml:1: lr: 'fast' is not a number"));
  EXPECT_THAT(config("lr: [1, 2]\n"), HasSubstr("bad.yaml:1: lr: a list"));
  EXPECT_THAT(config("lr:\n"), HasSubstr("bad.yaml:1: lr: no value"));
  EXPECT_THAT(config("model:\n  lr: 1\n"), HasSubstr("bad.yaml:1: model: a nested mapping"));
  EXPECT_THAT(config("- lr\n"), HasSubstr("not a mapping"));
  EXPECT_THAT(config("lr: 1\n---\nlr: 2\n"), HasSubstr("2 YAML documents"));
  EXPECT_THAT(config("lr: 1\nname: [a\n"), HasSubstr("bad.yaml:"));
  Sample sample;
  Parser parser("sample", "A sample.");
  parser.add(sample);
  EXPECT_THROW(parser.parse({"--config", (folder_ / "absent.yaml").string()}), base::Error);
}

TEST_F(ParserTest, YamlReadsBack) {
  Sample sample;
  Parser parser("sample", "A sample.");
  parser.add(sample);
  parser.parse({"--lr", "3e-7", "--name", "a: \"b\"\n#c", "--data-path", "p, q", "[r]", "--fruit",
                "pear-tree", "--swiglu"});
  const std::string text = parser.yaml();
  EXPECT_THAT(text, HasSubstr("# Sample"));
  EXPECT_THAT(text, HasSubstr("hidden_size: 8"));

  Sample again;
  Parser reader("sample", "A sample.");
  reader.add(again);
  reader.parse({"--config", file("again.yaml", text)});
  EXPECT_EQ(reader.json(), parser.json());
  EXPECT_EQ(again.lr, 3e-7);
  EXPECT_EQ(again.name, "a: \"b\"\n#c");
  EXPECT_EQ(again.train_iters, std::nullopt);
  EXPECT_EQ(parser.json()["train_iters"], nullptr);
  EXPECT_EQ(parser.json()["data_path"], (nlohmann::json{"p, q", "[r]"}));
  EXPECT_EQ(parser.json()["swiglu"], true);
}

struct Needed {
  static constexpr std::string_view group = "Needed";
  int64_t layers = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.layers, "layers", "Layers.", at_least(1));
  }
};

TEST_F(ParserTest, ValueOutsideItsBoundsMeansNotGiven) {
  Needed needed;
  Parser parser("sample", "A sample.");
  parser.add(needed);
  const std::string text = parser.yaml();
  EXPECT_THAT(text, HasSubstr("layers: ~"));
  parser.parse({"--config", file("needed.yaml", text)});
  EXPECT_EQ(needed.layers, 0);
  EXPECT_FALSE(parser.given("layers"));
  EXPECT_EQ(parser.help().find("[0]"), std::string::npos);
}

TEST_F(ParserTest, HelpNamesEverything) {
  Sample sample;
  Parser parser("sample", "A sample.");
  parser.add(sample);
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parser.parse({"--help"}));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("Usage: megadlm sample [options]"));
  EXPECT_THAT(text, HasSubstr("\nSample\n"));
  EXPECT_THAT(text, HasSubstr("One of: apple, pear-tree. [apple]"));
  EXPECT_THAT(text, HasSubstr("--train-iters N"));
  EXPECT_THAT(parser.markdown(), HasSubstr("| `--lr X` | `0.5` | Rate. |"));
}

TEST_F(ParserTest, Positionals) {
  std::string path, format = "text";
  Parser parser("inspect", "Look.");
  parser.add_positional("PATH", "What to look at.", path);
  parser.add_positional("FORMAT", "How.", format);
  parser.parse({"some/folder"});
  EXPECT_EQ(path, "some/folder");
  EXPECT_EQ(format, "text");
  std::string missing;
  Parser second("inspect", "Look.");
  second.add_positional("PATH", "What to look at.", missing);
  EXPECT_THROW(second.parse({}), base::Error);
}

TEST_F(ParserTest, TwoDeclarationsOfOneOption) {
  Sample sample;
  Parser parser("sample", "A sample.");
  parser.add(sample);
  EXPECT_THROW(parser.add(sample), std::logic_error);
}

}  // namespace
}  // namespace megadlm::config
