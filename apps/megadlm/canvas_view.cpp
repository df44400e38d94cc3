#include "canvas_view.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace megadlm::apps {
namespace {

constexpr int64_t kSnapshots = 8;
constexpr const char* kMask = "░";

int64_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

CanvasView::CanvasView(const tokenizers::Tokenizer& tokenizer, int64_t mask_token)
    : tokenizer_(tokenizer), mask_token_(mask_token), terminal_(isatty(STDERR_FILENO) != 0) {}

std::string CanvasView::render(const generation::DenoisingStep& step) const {
  std::string text;
  const int64_t length = step.canvas.size(1);
  for (int64_t i = 0; i < length; ++i) {
    const int64_t id = step.canvas[0][i].item<int64_t>();
    if (id == mask_token_) {
      text += kMask;
      continue;
    }
    // A token may be part of a character; such bytes are shown as they come.
    const std::string piece = tokenizer_.decode({static_cast<int32_t>(id)});
    const bool fresh = terminal_ && step.committed[0][i].item<bool>();
    text += fresh ? "\x1b[7m" + piece + "\x1b[0m" : piece;
  }
  return text;
}

void CanvasView::show(const generation::DenoisingStep& step) {
  if (!terminal_) {
    const bool wanted = step.step == 1 || step.step == step.steps ||
                        step.step * kSnapshots / step.steps != (step.step - 1) * kSnapshots / step.steps;
    if (wanted) fmt::print(stderr, "[step {}/{}] {}\n", step.step, step.steps, render(step));
    return;
  }
  if (lines_ > 0) fmt::print(stderr, "\x1b[{}A", lines_);
  const std::string text = render(step);
  fmt::print(stderr, "\r\x1b[Jstep {}/{}\n{}\n", step.step, step.steps, text);
  lines_ = 2;
  int64_t column = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = std::min(text.find('m', i), text.size() - 1);
    else if (text[i] == '\n' || ++column > terminal_columns()) {
      ++lines_;
      column = 0;
    }
  }
  std::fflush(stderr);
}

}  // namespace megadlm::apps
