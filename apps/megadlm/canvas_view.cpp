#include "canvas_view.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "tokenizers/unicode.h"

namespace megadlm::apps {
namespace {

constexpr int64_t kSnapshots = 8;
constexpr const char* kMask = "░";
constexpr const char* kNewLine = "⏎";
constexpr const char* kReplacement = "\uFFFD";
constexpr const char* kHighlight = "\x1b[7m";
constexpr const char* kPlain = "\x1b[0m";

struct TerminalSize {
  int64_t columns = 80, rows = 24;
};

TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

/// Text that cannot steer a terminal: bytes that are no UTF-8 (a token may be a part of a character) and
/// control characters are replaced, new lines are `new_line`.
std::string printable(std::string text, const char* new_line) {
  for (size_t bad = tokenizers::first_invalid_utf8(text); bad != std::string::npos;
       bad = tokenizers::first_invalid_utf8(text)) {
    text.replace(bad, 1, kReplacement);
  }
  std::string result;
  for (const char byte : text) {
    if (byte == '\n')
      result += new_line;
    else if (byte == '\t')
      result += ' ';
    else if ((byte >= 0 && byte < ' ') || byte == '\x7f')
      result += kReplacement;
    else
      result += byte;
  }
  return result;
}

/// Lines that a picture takes: a character a column, escape sequences none.
int64_t lines_of(const std::string& text, int64_t columns) {
  int64_t lines = 1, column = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\x1b') {
      i = text.find('m', i);
    } else if (byte == '\n') {
      ++lines;
      column = 0;
    } else if ((byte & 0xC0) != 0x80 && ++column > columns) {
      ++lines;
      column = 1;
    }
  }
  return lines;
}

}  // namespace

CanvasView::CanvasView(const tokenizers::Tokenizer& tokenizer, int64_t mask_token)
    : tokenizer_(tokenizer), mask_token_(mask_token), terminal_(isatty(STDERR_FILENO) != 0) {}

std::string CanvasView::render(const generation::DenoisingStep& step, bool in_place) const {
  const at::Tensor canvas = step.canvas[0].contiguous(), committed = step.committed[0].contiguous();
  const int64_t* ids = canvas.const_data_ptr<int64_t>();
  const bool* fresh = committed.const_data_ptr<bool>();
  std::string text;
  for (int64_t i = 0; i < canvas.numel();) {
    if (ids[i] == mask_token_) {
      text += kMask;
      ++i;
      continue;
    }
    // Tokens of one kind are decoded together: a character may lie in several.
    std::vector<int32_t> run;
    const bool highlight = in_place && fresh[i];
    for (; i < canvas.numel() && ids[i] != mask_token_ && (in_place && fresh[i]) == highlight; ++i) {
      run.push_back(static_cast<int32_t>(ids[i]));
    }
    const std::string part = printable(tokenizer_.decode(run), in_place ? "\n" : kNewLine);
    text += highlight ? kHighlight + part + kPlain : part;
  }
  return text;
}

bool CanvasView::redraw(const generation::DenoisingStep& step) {
  const TerminalSize size = terminal_size();
  const std::string picture = fmt::format("step {}/{}\n{}", step.step, step.steps, render(step, true));
  const int64_t lines = lines_of(picture, size.columns);
  if (lines >= size.rows) return false;
  if (lines_ > 0) fmt::print(stderr, "\x1b[{}A", lines_);
  fmt::print(stderr, "\r\x1b[J{}\n", picture);
  std::fflush(stderr);
  lines_ = lines;
  return true;
}

void CanvasView::show(const generation::DenoisingStep& step) {
  if (terminal_ && redraw(step)) return;
  lines_ = 0;
  const bool wanted = step.step == 1 || step.last ||
                      step.step * kSnapshots / step.steps != (step.step - 1) * kSnapshots / step.steps;
  if (wanted) fmt::print(stderr, "[step {}/{}] {}\n", step.step, step.steps, render(step, false));
}

}  // namespace megadlm::apps
