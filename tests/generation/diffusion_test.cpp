#include "generation/samplers/diffusion.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <limits>

#include "generation/infill.h"
#include "generation/samplers/autoregressive.h"
#include "support/temporary_folder.h"
#include "support/tiny_architecture.h"

namespace megadlm::generation {
namespace {

using megadlm::testing::error_of;

constexpr int64_t kMask = 49, kEod = 48, kVocabulary = 50;

DiffusionSettings settings_of(int64_t steps, int64_t block_length) {
  DiffusionSettings settings;
  settings.mask_token = kMask;
  settings.steps = steps;
  settings.block_length = block_length;
  return settings;
}

/// A stand-in whose logits are rows of a table [b x s, V].
DiffusionModel table_model(const at::Tensor& table) {
  DiffusionModel model;
  model.vocab_size = kVocabulary;
  model.logits = [table](const at::Tensor&, const at::Tensor& positions) {
    return table.index_select(0, positions);
  };
  return model;
}

at::Tensor ids(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

at::Tensor masks(int64_t rows, int64_t length) { return at::full({rows, length}, kMask, at::kLong); }

TEST(Denoise, NeverDrawsTheMask) {
  at::Tensor table = at::zeros({6, kVocabulary});
  table.select(1, kMask).fill_(20);
  table.select(1, 7).fill_(5);
  EXPECT_TRUE(denoise(table_model(table), masks(1, 6), settings_of(6, 0)).eq(7).all().item<bool>());
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto settings = settings_of(3, 0);
    settings.temperature = 1;
    settings.seed = seed;
    settings.remasking = static_cast<config::Remasking>(seed % 4);
    EXPECT_FALSE(denoise(table_model(table), masks(1, 6), settings).eq(kMask).any().item<bool>());
  }
}

TEST(Denoise, LeavesGivenTokensAndFillsGapsOnly) {
  at::Tensor canvas = ids({1, kMask, 3, kMask, kMask, 6}).view({1, 6});
  at::Tensor table = at::zeros({6, kVocabulary});
  table.select(1, 9).fill_(5);
  const at::Tensor filled = denoise(table_model(table), canvas, settings_of(2, 0));
  EXPECT_TRUE(filled.equal(ids({1, 9, 3, 9, 9, 6}).view({1, 6})));
  EXPECT_TRUE(denoise(table_model(table), filled, settings_of(2, 0)).equal(filled));
}

TEST(Denoise, CommitsTheMostConfidentFirstAndByQuota) {
  at::Tensor table = at::zeros({5, kVocabulary});
  for (int64_t i = 0; i < 5; ++i) table[i][i] = 1.0 + static_cast<double>(i);
  std::vector<int64_t> counts;
  std::vector<int64_t> first;
  denoise(table_model(table), masks(1, 5), settings_of(3, 0), [&](const DenoisingStep& step) {
    const at::Tensor places = step.committed.nonzero();
    counts.push_back(places.size(0));
    if (step.step == 1) first = {places[0][1].item<int64_t>(), places[1][1].item<int64_t>()};
  });
  EXPECT_EQ(counts, (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(first, (std::vector<int64_t>{3, 4}));
}

TEST(Denoise, BlocksAreFilledFromLeftToRight) {
  at::Tensor table = at::zeros({6, kVocabulary});
  for (int64_t i = 0; i < 6; ++i) table[i][i] = 1.0 + static_cast<double>(i);
  int64_t last = -1;
  denoise(table_model(table), masks(1, 6), settings_of(6, 2), [&](const DenoisingStep& step) {
    const int64_t position = step.committed.nonzero()[0][1].item<int64_t>();
    EXPECT_GE(position / 2, last / 2);
    last = position;
  });
}

TEST(Denoise, ARowEndsAtItsFirstEndTokenWithNoMaskBefore) {
  // Row 0: 5, end, 9, then 7s; row 1 never ends.
  at::Tensor table = at::zeros({12, kVocabulary});
  const int64_t wanted[12] = {5, kEod, 9, 7, 7, 7, 1, 2, 3, 4, 5, 6};
  for (int64_t i = 0; i < 12; ++i) table[i][wanted[i]] = 9;
  auto settings = settings_of(6, 3);
  settings.eod_token = kEod;
  const at::Tensor filled = denoise(table_model(table), masks(2, 6), settings);
  EXPECT_TRUE(filled[0].equal(ids({5, kEod, kEod, kEod, kEod, kEod}))) << filled;
  EXPECT_TRUE(filled[1].equal(ids({1, 2, 3, 4, 5, 6}))) << filled;
  // An end token that comes first at the far end does not end the row.
  at::Tensor far = at::zeros({4, kVocabulary});
  far[3][kEod] = 30;
  for (int64_t i = 0; i < 3; ++i) far[i][i + 1] = 5;
  auto one = settings_of(4, 0);
  one.eod_token = kEod;
  EXPECT_TRUE(denoise(table_model(far), masks(1, 4), one)[0].equal(ids({1, 2, 3, kEod})));
}

/// A stand-in whose logits at a position are a function of its row's number (kept in the row's first token)
/// and of the tokens beside it.
DiffusionModel neighbour_model() {
  DiffusionModel model;
  model.vocab_size = kVocabulary;
  model.logits = [](const at::Tensor& canvas, const at::Tensor& positions) {
    const int64_t length = canvas.size(1);
    at::Tensor logits = at::empty({positions.numel(), kVocabulary});
    for (int64_t i = 0; i < positions.numel(); ++i) {
      const int64_t row = positions[i].item<int64_t>() / length, at = positions[i].item<int64_t>() % length;
      const int64_t left = canvas[row][at - 1].item<int64_t>(), first = canvas[row][0].item<int64_t>();
      logits[i] = (at::arange(kVocabulary) * (1 + left + 7 * first + at)).remainder(11).to(at::kFloat) / 3;
    }
    return logits;
  };
  return model;
}

TEST(Denoise, ARowDoesNotDependOnItsBatch) {
  // Gaps of different places and sizes, so that the rows' blocks and steps differ.
  at::Tensor canvas = masks(3, 10);
  canvas.select(1, 0).copy_(ids({1, 2, 3}));
  canvas[0].slice(0, 1, 6).fill_(20);
  canvas[2].slice(0, 3, 5).fill_(21);
  canvas[2].slice(0, 8, 10).fill_(22);
  auto settings = settings_of(6, 3);
  settings.temperature = 1;
  for (const auto remasking : {config::Remasking::low_confidence, config::Remasking::random}) {
    settings.remasking = remasking;
    settings.first_row = 0;
    const at::Tensor together = denoise(neighbour_model(), canvas, settings);
    for (int64_t row = 0; row < 3; ++row) {
      settings.first_row = row;
      EXPECT_TRUE(denoise(neighbour_model(), canvas.slice(0, row, row + 1), settings)[0].equal(together[row]))
          << row;
    }
    settings.first_row = 0;
    EXPECT_TRUE(denoise(neighbour_model(), canvas, settings).equal(together));
    settings.seed = 1;
    EXPECT_FALSE(denoise(neighbour_model(), canvas, settings).equal(together));
    settings.seed = 0;
  }
}

TEST(Denoise, StepsAreThoseThatRun) {
  at::Tensor table = at::zeros({20, kVocabulary});
  const auto run = [&](const at::Tensor& canvas, const DiffusionSettings& settings) {
    std::vector<int64_t> seen, totals;
    bool last = false;
    denoise(table_model(table), canvas, settings, [&](const DenoisingStep& step) {
      EXPECT_FALSE(last);
      seen.push_back(step.step);
      totals.push_back(step.steps);
      last = step.last;
    });
    EXPECT_TRUE(last);
    EXPECT_EQ(seen.back(), static_cast<int64_t>(seen.size()));
    return totals;
  };
  // More steps than masks: those without a commit are dropped and not counted.
  EXPECT_EQ(run(masks(1, 3), settings_of(40, 0)), (std::vector<int64_t>{3, 3, 3}));
  // Two gaps far apart: blocks without a mask need no step.
  at::Tensor canvas = at::full({1, 20}, 4, at::kLong);
  canvas[0][2] = kMask;
  canvas[0][19] = kMask;
  EXPECT_EQ(run(canvas, settings_of(2, 4)), (std::vector<int64_t>{2, 2}));
}

TEST(Denoise, BannedIdsAreNeverDrawn) {
  at::Tensor table = at::zeros({4, kVocabulary});
  table.select(1, 7).fill_(20);
  auto settings = settings_of(4, 0);
  for (int64_t id = 0; id < kMask; ++id) {
    if (id != 11) settings.banned.push_back(id);
  }
  settings.banned.push_back(kVocabulary + 3);  // a column of the padding
  for (const double temperature : {0.0, 1.0, 1e-310}) {
    settings.temperature = temperature;
    EXPECT_TRUE(denoise(table_model(table), masks(1, 4), settings).eq(11).all().item<bool>());
  }
  settings.banned.push_back(11);
  EXPECT_NE(error_of([&] { denoise(table_model(table), masks(1, 4), settings); }).find("no token"),
            std::string::npos);
}

TEST(Denoise, NamesLogitsThatAreNoNumbers) {
  at::Tensor table = at::zeros({4, kVocabulary});
  table[2][5] = std::numeric_limits<float>::quiet_NaN();
  auto settings = settings_of(4, 0);
  for (int64_t kind = 0; kind < 4; ++kind) {
    settings.remasking = static_cast<config::Remasking>(kind);
    EXPECT_NE(error_of([&] { denoise(table_model(table), masks(1, 4), settings); }).find("position 2"),
              std::string::npos);
  }
}

TEST(Denoise, ThePaddingOfTheVocabularyIsNeverDrawn) {
  at::Tensor table = at::zeros({4, kVocabulary + 14});
  table.slice(1, kVocabulary).fill_(30);
  auto settings = settings_of(4, 0);
  settings.temperature = 1;
  EXPECT_TRUE(denoise(table_model(table), masks(1, 4), settings).lt(kVocabulary).all().item<bool>());
}

TEST(Denoise, GuidanceMasksThePrompt) {
  // The stand-in prefers token 1 when it sees the prompt, 2 when not.
  DiffusionModel model;
  model.vocab_size = kVocabulary;
  int64_t calls = 0;
  model.logits = [&](const at::Tensor& canvas, const at::Tensor& positions) {
    ++calls;
    at::Tensor logits = at::zeros({positions.numel(), kVocabulary});
    const bool sees = canvas[0][0].item<int64_t>() == 30;
    logits.select(1, 1).fill_(sees ? 1.0 : 0.0);
    logits.select(1, 2).fill_(sees ? 1.2 : 1.4);
    return logits;
  };
  const at::Tensor canvas = ids({30, kMask}).view({1, 2});
  auto settings = settings_of(1, 0);
  EXPECT_EQ(denoise(model, canvas, settings)[0][1].item<int64_t>(), 2);
  EXPECT_EQ(calls, 1);
  settings.cfg_scale = 1;  // 0 + 2 x (1 - 0) = 2 against 1.4 + 2 x (1.2 - 1.4) = 1
  EXPECT_EQ(denoise(model, canvas, settings)[0][1].item<int64_t>(), 1);
}

TEST(Denoise, GuidanceIsComputedInSinglePrecision) {
  // 1 wins by 2^-9 over logits near 1, less than bfloat16 holds there.
  DiffusionModel model;
  model.vocab_size = kVocabulary;
  model.logits = [](const at::Tensor& canvas, const at::Tensor& positions) {
    at::Tensor logits = at::full({positions.numel(), kVocabulary}, -9.0);
    const bool sees = canvas[0][0].item<int64_t>() == 30;
    logits.select(1, 1).fill_(sees ? 1.0 : 0.99609375);
    logits.select(1, 0).fill_(1.0);
    return logits.to(at::kBFloat16);
  };
  auto settings = settings_of(1, 0);
  settings.cfg_scale = 0.5;
  EXPECT_EQ(denoise(model, ids({30, kMask}).view({1, 2}), settings)[0][1].item<int64_t>(), 1);
}

TEST(Denoise, NamesTooFewSteps) {
  EXPECT_NE(error_of([&] {
              denoise(table_model(at::zeros({6, kVocabulary})), masks(1, 6), settings_of(2, 2));
            }).find("--steps 2"),
            std::string::npos);
}

TEST(Draft, TemperatureFollowsTheSoftMaximum) {
  const at::Tensor logits = at::tensor({0.0, 1.0, 2.0}).unsqueeze(0);
  const at::Tensor expected = at::softmax(logits, 1);
  std::vector<int64_t> counts(3);
  const BannedIds banned{{}, 3};
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    DrawKeys keys{{0}, {0}, 0, seed};
    ++counts[draft_tokens(logits, banned, 1.0, config::Remasking::low_confidence, keys)
                 .tokens.item<int64_t>()];
  }
  for (int64_t i = 0; i < 3; ++i) EXPECT_NEAR(counts[i] / 6000.0, expected[0][i].item<double>(), 0.025);
}

TEST(Draft, ATinyTemperatureIsGreedy) {
  const at::Tensor logits = at::tensor({3.0, 5.0, 4.0}).unsqueeze(0);
  for (const double temperature : {0.0, 1e-310, 1e-9}) {
    EXPECT_EQ(draft_tokens(logits, {{}, 3}, temperature, config::Remasking::margin, {{0}, {0}, 0, 1})
                  .tokens.item<int64_t>(),
              1);
  }
}

TEST(Draft, ScoresAreThoseOfTheirNames) {
  const at::Tensor logits = at::tensor({2.0, 1.0, 0.0, 9.0}).unsqueeze(0);
  const BannedIds banned{{3}, 4};
  const DrawKeys keys{{0}, {0}, 0, 1};
  const at::Tensor p = at::softmax(logits.slice(1, 0, 3).to(at::kDouble), 1)[0];
  const auto score = [&](config::Remasking remasking) {
    return draft_tokens(logits, banned, 0, remasking, keys).scores.item<double>();
  };
  EXPECT_NEAR(score(config::Remasking::low_confidence), p[0].item<double>(), 1e-12);
  EXPECT_NEAR(score(config::Remasking::margin), (p[0] - p[1]).item<double>(), 1e-12);
  EXPECT_NEAR(score(config::Remasking::entropy), (p * p.log()).sum().item<double>(), 1e-12);
  EXPECT_LT(score(config::Remasking::random), 1);
}

TEST(CommitSchedule, SpreadsTheRestOverTheFirstSteps) {
  EXPECT_EQ(commit_schedule(7, 3), (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(commit_schedule(2, 5), (std::vector<int64_t>{1, 1}));
  EXPECT_TRUE(commit_schedule(0, 5).empty());
}

std::unique_ptr<models::LanguageModel> tiny_model() {
  config::Architecture architecture = megadlm::testing::tiny_architecture();
  architecture.ffn_hidden_size = 0;  // the default width
  architecture.untie_embeddings_and_output_weights = false;
  architecture.init_method_std = 0.2;
  return models::make_decoder(config::resolve(architecture, 64, kVocabulary, kVocabulary), 3);
}

TEST(DiffusionModel, ShiftedOutputsServeTheNextPosition) {
  const auto model = tiny_model();
  const at::NoGradGuard no_gradient;
  const at::Tensor canvas = at::arange(8).view({1, 8});
  const at::Tensor positions = ids({0, 1, 5});
  config::ObjectiveOptions plain, shifted;
  plain.model_running_mode = config::RunningMode::diffusion_unshifted;
  shifted.model_running_mode = config::RunningMode::diffusion_shifted;
  const at::Tensor all = model->logits(model->hidden({canvas, {}, {}, nullptr})[0]);
  EXPECT_TRUE(diffusion_model(*model, plain)
                  .logits(canvas, positions)
                  .allclose(all.index_select(0, positions), 1e-4, 1e-5));
  EXPECT_TRUE(diffusion_model(*model, shifted)
                  .logits(canvas, positions)
                  .allclose(all.index_select(0, ids({0, 0, 4})), 1e-4, 1e-5));
}

TEST(Autoregressive, CacheGivesWhatWholePassesGive) {
  const auto model = tiny_model();
  const at::NoGradGuard no_gradient;
  AutoregressiveSettings settings;
  settings.max_new_tokens = 12;
  settings.banned = {kMask};
  std::vector<int64_t> text{3, 1, 4};
  const auto made = continue_prompt(*model, text, settings);
  ASSERT_EQ(made.size(), 12u);
  for (const int64_t token : made) {
    ops::Visibility causal;
    causal.kind = ops::Visibility::Kind::causal;
    at::Tensor logits = model->logits(
        model->hidden({at::tensor(text, at::kLong).unsqueeze(0), {}, causal, nullptr})[0][-1].unsqueeze(0));
    logits[0][kMask] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(logits.argmax(1).item<int64_t>(), token);
    text.push_back(token);
  }
  settings.eod_token = made[4];
  const auto ended = continue_prompt(*model, {3, 1, 4}, settings);
  EXPECT_LE(ended.size(), 4u);
}

/// Encodes each byte as itself.
class ByteTokenizer : public tokenizers::Tokenizer {
 public:
  std::vector<int32_t> encode(std::string_view text) const override { return {text.begin(), text.end()}; }
  std::string decode(const std::vector<int32_t>&, bool) const override { return ""; }
  int64_t vocab_size() const override { return 256; }
  std::optional<int32_t> id_of(std::string_view) const override { return std::nullopt; }
  std::string to_json() const override { return ""; }
};

TEST(Infill, GapsBecomeMasks) {
  const ByteTokenizer tokenizer;
  EXPECT_EQ(encode_with_gaps(tokenizer, "a[MASK]b[MASK:3]", 999),
            (std::vector<int64_t>{'a', 999, 'b', 999, 999, 999}));
  EXPECT_EQ(encode_with_gaps(tokenizer, "[MASKED][MASK]", 999).size(), 9u);
  for (const char* bad : {"no gap", "[MASK", "[MASK:0]", "[MASK:x]", "[MASK:999999999]", "[MASK:]"}) {
    EXPECT_NE(error_of([&] { encode_with_gaps(tokenizer, bad, 999); }).find("--infill"), std::string::npos)
        << bad;
  }
}

}  // namespace
}  // namespace megadlm::generation
