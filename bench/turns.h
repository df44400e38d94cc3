#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace megadlm::bench {

/// Median seconds of a call of each contestant. They take turns, so that what else the machine does meets all
/// alike; each has one call before that does not count.
inline std::vector<double> take_turns(const std::vector<std::function<void()>>& contestants, int rounds) {
  std::vector<std::vector<double>> seconds(contestants.size());
  for (int round = -1; round < rounds; ++round) {
    for (size_t i = 0; i < contestants.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      contestants[i]();
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (round >= 0) seconds[i].push_back(spent.count());
    }
  }
  std::vector<double> medians;
  for (auto& all : seconds) {
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    medians.push_back(all[all.size() / 2]);
  }
  return medians;
}

}  // namespace megadlm::bench
