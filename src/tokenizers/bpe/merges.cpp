#include "tokenizers/bpe/merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace megadlm::tokenizers {
namespace {

constexpr std::size_t kShort = 24;  // below, looking at every pair beats a queue

constexpr int32_t kNoRank = std::numeric_limits<int32_t>::max();

uint64_t pair_of(int32_t left, int32_t right) {
  return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(const std::vector<Rule>& ranked) {
  // At most half full, so that a search ends after few steps.
  const auto size = std::bit_ceil(std::max<std::size_t>(ranked.size() * 2, 16));
  slots_.resize(size);
  shift_ = 64 - std::countr_zero(size);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const uint64_t pair = pair_of(ranked[i].left, ranked[i].right);
    slots_[slot_of(pair)] = {pair, {static_cast<int32_t>(i), ranked[i].result}};
  }
}

std::size_t MergeTable::slot_of(uint64_t pair) const {
  std::size_t slot = (pair * 0x9E3779B97F4A7C15u) >> shift_;
  while (slots_[slot].target.rank >= 0 && slots_[slot].pair != pair) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

MergeTable::Target MergeTable::find(int32_t left, int32_t right) const {
  const Target target = slots_[slot_of(pair_of(left, right))].target;
  return target.rank >= 0 ? target : Target{kNoRank, -1};
}

void MergeTable::apply(std::vector<int32_t>& symbols) const {
  if (symbols.size() < kShort) {
    apply_short(symbols);
  } else {
    apply_long(symbols);
  }
}

void MergeTable::apply_short(std::vector<int32_t>& symbols) const {
  std::array<Target, kShort> targets{};  // of each symbol with the next
  std::size_t count = symbols.size();
  if (count < 2) return;
  for (std::size_t i = 0; i + 1 < count; ++i) targets[i] = find(symbols[i], symbols[i + 1]);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (targets[i].rank < targets[best].rank) best = i;
    }
    if (targets[best].rank == kNoRank) break;
    symbols[best] = targets[best].result;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      symbols[i] = symbols[i + 1];
      targets[i] = targets[i + 1];
    }
    if (best + 1 < count) targets[best] = find(symbols[best], symbols[best + 1]);
    if (best > 0) targets[best - 1] = find(symbols[best - 1], symbols[best]);
  }
  symbols.resize(count);
}

void MergeTable::apply_long(std::vector<int32_t>& symbols) const {
  struct Node {
    int32_t id;
    int64_t previous, next;
  };
  // (rank, position, left, right): the lowest rank, then the leftmost, comes first.
  using Candidate = std::tuple<int32_t, int64_t, int32_t, int32_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto count = static_cast<int64_t>(symbols.size());
  std::vector<Node> nodes(symbols.size());
  for (int64_t i = 0; i < count; ++i) nodes[i] = {symbols[i], i - 1, i + 1 < count ? i + 1 : -1};
  const auto push = [&](int64_t position) {
    if (position < 0 || nodes[position].next < 0) return;
    const int32_t left = nodes[position].id, right = nodes[nodes[position].next].id;
    const Target target = find(left, right);
    if (target.rank != kNoRank) queue.emplace(target.rank, position, left, right);
  };
  for (int64_t i = 0; i < count; ++i) push(i);
  while (!queue.empty()) {
    const auto [rank, position, left, right] = queue.top();
    queue.pop();
    Node& node = nodes[position];
    // A neighbour was merged since this was pushed.
    if (node.id != left || node.next < 0 || nodes[node.next].id != right) continue;
    Node& gone = nodes[node.next];
    node.id = find(left, right).result;
    node.next = gone.next;
    gone.id = -1;
    if (node.next >= 0) nodes[node.next].previous = position;
    push(node.previous);
    push(position);
  }
  symbols.clear();
  for (int64_t i = 0; i >= 0; i = nodes[i].next) symbols.push_back(nodes[i].id);
}

}  // namespace megadlm::tokenizers
