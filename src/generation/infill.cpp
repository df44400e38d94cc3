#include "generation/infill.h"

#include <charconv>

#include "base/error.h"

namespace megadlm::generation {
namespace {

constexpr std::string_view kOpen = "[MASK";
constexpr int64_t kLargestGap = 100'000;

/// The number in a gap's text `[MASK:n]`; 1 for `[MASK]`; 0 when it is no gap.
int64_t gap_size(std::string_view gap) {
  const std::string_view inside = gap.substr(kOpen.size(), gap.size() - kOpen.size() - 1);
  if (inside.empty()) return 1;
  if (inside.front() != ':') return 0;
  int64_t count = 0;
  const auto [end, error] = std::from_chars(inside.data() + 1, inside.data() + inside.size(), count);
  base::require(
      error == std::errc() && end == inside.data() + inside.size() && count >= 1 && count <= kLargestGap,
      "--infill: gap '{}': expected a number of 1 to {}, as in [MASK:12]", gap, kLargestGap);
  return count;
}

}  // namespace

std::vector<int64_t> encode_with_gaps(const tokenizers::Tokenizer& tokenizer, const std::string& text,
                                      int64_t mask_token) {
  std::vector<int64_t> ids;
  const auto append = [&](std::string_view part) {
    const auto encoded = tokenizer.encode(part);
    ids.insert(ids.end(), encoded.begin(), encoded.end());
  };
  const std::string_view view = text;
  size_t done = 0;
  bool found = false;
  for (size_t open = view.find(kOpen); open != std::string_view::npos; open = view.find(kOpen, open + 1)) {
    const size_t close = view.find(']', open);
    if (close == std::string_view::npos) break;
    const int64_t count = gap_size(view.substr(open, close + 1 - open));
    if (count == 0) continue;
    append(view.substr(done, open - done));
    ids.insert(ids.end(), static_cast<size_t>(count), mask_token);
    done = close + 1;
    found = true;
  }
  base::require(found,
                "--infill: the text has no gap; write [MASK] or [MASK:12] where text is to be filled in");
  append(view.substr(done));
  return ids;
}

}  // namespace megadlm::generation
