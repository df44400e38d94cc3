#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/log.h"

namespace megadlm::base {
namespace {

constexpr double kRedrawSeconds = 0.2;
constexpr double kLineSeconds = 30;
constexpr int64_t kBarWidth = 24;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Progress(std::string label, int64_t total, std::string unit, bool plain_lines)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      plain_lines_(plain_lines),
      start_(now_seconds()) {}

std::string Progress::describe(int64_t done, double seconds) const {
  const double rate = seconds > 0 ? static_cast<double>(done - first_) / seconds : 0;
  if (total_ <= 0) return fmt::format("{} {} {}, {:.1f} {}/s", label_, done, unit_, rate, unit_);
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  return fmt::format("{} {}/{} {}, {:.1f} {}/s, {:.0f} s left", label_, done, total_, unit_, rate, unit_,
                     left);
}

void Progress::update(int64_t done, const std::string& note) {
  if (first_ < 0) first_ = done;
  const double now = now_seconds();
  if (!terminal_ && (!plain_lines_ || now - std::max(last_, start_) < kLineSeconds)) return;
  if (terminal_ && now - last_ < kRedrawSeconds) return;
  last_ = now;
  const std::string text = describe(done, now - start_) + (note.empty() ? "" : " | " + note);
  if (!terminal_) {
    spdlog::info("{}", text);
    return;
  }
  std::string bar;
  if (total_ > 0) {
    const int64_t filled = std::clamp<int64_t>(done * kBarWidth / total_, 0, kBarWidth);
    bar = fmt::format("[{}{}] ", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
  }
  fmt::print(stderr, "\r\x1b[K{}{}", bar, text);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace megadlm::base
