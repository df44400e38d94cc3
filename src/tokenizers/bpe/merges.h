#pragma once

#include <cstddef>
#include <cstdint>
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
  MergeTable() : MergeTable(std::vector<Rule>()) {}
  /// Of two rules for one pair the later counts.
  explicit MergeTable(const std::vector<Rule>& ranked);

  /// Merges `symbols` in place until no rule applies.
  void apply(std::vector<int32_t>& symbols) const;

 private:
  struct Target {
    int32_t rank, result;
  };
  /// A place of the open-addressed table; rank -1 when it is free.
  struct Slot {
    uint64_t pair = 0;
    Target target{-1, -1};
  };
  size_t slot_of(uint64_t pair) const;
  /// The rule of a pair; one of the greatest rank and result -1 when there is none.
  Target find(int32_t left, int32_t right) const;
  void apply_short(std::vector<int32_t>& symbols) const;
  void apply_long(std::vector<int32_t>& symbols) const;

  std::vector<Slot> slots_;
  int shift_ = 0;
};

}  // namespace megadlm::tokenizers
