#pragma once

#include <cstdint>
#include <string>

namespace megadlm::base {

/// How far a long operation is, on standard error: a bar with rate and time left on a terminal, elsewhere a
/// plain line every half minute.
class Progress {
 public:
  /// `total` 0: unknown. `plain_lines` false: nothing where there is no terminal (the caller logs itself).
  Progress(std::string label, int64_t total, std::string unit, bool plain_lines = true);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `note` follows the bar.
  void update(int64_t done, const std::string& note = "");
  /// Takes the bar off the terminal, so that a line can be printed.
  void clear();

 private:
  std::string describe(int64_t done, double seconds) const;

  std::string label_, unit_;
  int64_t total_, first_ = -1;
  bool terminal_, plain_lines_, shown_ = false;
  double start_, last_ = 0;
};

}  // namespace megadlm::base
