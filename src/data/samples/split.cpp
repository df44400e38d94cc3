#include "data/samples/split.h"

#include <array>
#include <cmath>
#include <sstream>

#include "base/error.h"

namespace megadlm::data {

Split split_documents(const std::string& text, int64_t num_documents) {
  std::array<double, 3> shares{};
  std::stringstream stream(text);
  std::string part;
  size_t count = 0;
  double sum = 0;
  while (std::getline(stream, part, ',')) {
    size_t used = 0;
    double value = -1;
    try {
      value = std::stod(part, &used);
    } catch (const std::exception&) {
    }
    if (count >= 3 || used != part.size() || !(value >= 0) || !std::isfinite(value)) {
      base::fail_usage("--split '{}': expected up to three numbers of at least 0, separated by commas", text);
    }
    shares[count++] = value;
    sum += value;
  }
  if (sum <= 0) base::fail_usage("--split '{}': the shares add up to 0", text);
  std::array<int64_t, 4> borders{};
  double gone = 0;
  for (size_t i = 0; i < 3; ++i) {
    gone += shares[i];
    borders[i + 1] = static_cast<int64_t>(std::llround(gone / sum * static_cast<double>(num_documents)));
  }
  return {{borders[0], borders[1]}, {borders[1], borders[2]}, {borders[2], borders[3]}};
}

}  // namespace megadlm::data
