#include "config/nearest.h"

#include <algorithm>

namespace megadlm::config {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& candidates) {
  // A third of the letters wrong is still a misspelling; more is another word.
  size_t best = std::max<size_t>(2, text.size() / 3) + 1;
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(text, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace megadlm::config
