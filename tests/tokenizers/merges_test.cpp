#include "tokenizers/bpe/merges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/philox.h"

namespace megadlm::tokenizers {
namespace {

using Ids = std::vector<int32_t>;

/// Merging as it is defined: the rule of lowest rank at its leftmost place, until none applies.
Ids merged(const std::vector<MergeTable::Rule>& rules, Ids symbols) {
  while (true) {
    std::optional<size_t> place;
    const MergeTable::Rule* best = nullptr;
    for (auto rule = rules.begin(); rule != rules.end() && !place; ++rule) {
      for (size_t i = 0; i + 1 < symbols.size() && !place; ++i) {
        if (symbols[i] == rule->left && symbols[i + 1] == rule->right) place = i, best = &*rule;
      }
    }
    if (!place) return symbols;
    symbols[*place] = best->result;
    symbols.erase(symbols.begin() + static_cast<int64_t>(*place) + 1);
  }
}

TEST(MergeTable, MergesPiecesOfEveryLengthAsDefined) {
  const base::Random random(4, base::RandomStream::test);
  for (uint64_t i = 0; i < 300; ++i) {
    std::vector<MergeTable::Rule> rules;
    for (int32_t k = 0; k < 30; ++k) {
      const auto below = static_cast<uint64_t>(4 + k);
      const MergeTable::Rule rule{static_cast<int32_t>(random.below(below, i, 2 * k)),
                                  static_cast<int32_t>(random.below(below, i, 2 * k + 1)), 4 + k};
      const auto same = [&](const auto& other) {
        return other.left == rule.left && other.right == rule.right;
      };
      if (std::none_of(rules.begin(), rules.end(), same)) rules.push_back(rule);
    }
    Ids symbols;
    for (uint64_t k = 0; k < i % 61; ++k)
      symbols.push_back(static_cast<int32_t>(random.below(4, i, 100 + k)));
    Ids result = symbols;
    MergeTable(rules).apply(result);
    ASSERT_EQ(result, merged(rules, symbols));
  }
}

TEST(MergeTable, OfTwoRulesForAPairTheLaterCounts) {
  Ids symbols{0, 1, 2};
  MergeTable({{0, 1, 3}, {1, 2, 4}, {0, 1, 5}}).apply(symbols);
  EXPECT_EQ(symbols, (Ids{0, 4}));
}

}  // namespace
}  // namespace megadlm::tokenizers
