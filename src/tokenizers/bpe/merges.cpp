#include "tokenizers/bpe/merges.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace megadlm::tokenizers {
namespace {

constexpr std::size_t kShort = 24;  // below, looking at every pair beats a queue

uint64_t key(int32_t left, int32_t right) {
  return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(const std::vector<Rule>& ranked) {
  rules_.reserve(ranked.size() * 2);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    rules_.insert_or_assign(key(ranked[i].left, ranked[i].right),
                            Target{static_cast<int32_t>(i), ranked[i].result});
  }
}

const MergeTable::Target* MergeTable::find(int32_t left, int32_t right) const {
  const auto found = rules_.find(key(left, right));
  return found == rules_.end() ? nullptr : &found->second;
}

void MergeTable::apply(std::vector<int32_t>& symbols) const {
  if (symbols.size() < kShort) {
    apply_short(symbols);
  } else {
    apply_long(symbols);
  }
}

void MergeTable::apply_short(std::vector<int32_t>& symbols) const {
  std::vector<Target> targets;
  const auto look = [&](std::size_t i) {
    const Target* target = i + 1 < symbols.size() ? find(symbols[i], symbols[i + 1]) : nullptr;
    return target != nullptr ? *target : Target{std::numeric_limits<int32_t>::max(), -1};
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) targets.push_back(look(i));
  while (symbols.size() > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < targets.size(); ++i) {
      if (targets[i].rank < targets[best].rank) best = i;
    }
    if (targets[best].result < 0) return;
    symbols[best] = targets[best].result;
    symbols.erase(symbols.begin() + static_cast<int64_t>(best) + 1);
    targets.erase(targets.begin() + static_cast<int64_t>(best) + 1);
    targets[best] = look(best);
    if (best > 0) targets[best - 1] = look(best - 1);
  }
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
    if (const Target* target = find(left, right)) queue.emplace(target->rank, position, left, right);
  };
  for (int64_t i = 0; i < count; ++i) push(i);
  while (!queue.empty()) {
    const auto [rank, position, left, right] = queue.top();
    queue.pop();
    Node& node = nodes[position];
    // A neighbour was merged since this was pushed.
    if (node.id != left || node.next < 0 || nodes[node.next].id != right) continue;
    Node& gone = nodes[node.next];
    node.id = find(left, right)->result;
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
