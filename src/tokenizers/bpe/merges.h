#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace megadlm::tokenizers {

/// Merge rules by pair of ids, and their application: always the rule of lowest rank, leftmost first
/// (Sennrich et al., 2016), in time n log n of a piece's length.
class MergeTable {
 public:
  /// `ranked[i]` is the rule of rank i: (left, right) become `result`.
  struct Rule {
    int32_t left, right, result;
  };
  explicit MergeTable(const std::vector<Rule>& ranked);

  /// Merges `symbols` in place until no rule applies.
  void apply(std::vector<int32_t>& symbols) const;

 private:
  struct Target {
    int32_t rank, result;
  };
  const Target* find(int32_t left, int32_t right) const;
  void apply_short(std::vector<int32_t>& symbols) const;
  void apply_long(std::vector<int32_t>& symbols) const;

  std::unordered_map<uint64_t, Target> rules_;
};

}  // namespace megadlm::tokenizers
