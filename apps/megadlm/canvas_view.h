#pragma once

#include <string>

#include "generation/samplers/diffusion.h"
#include "tokenizers/tokenizer.h"

namespace megadlm::apps {

/// Shows a canvas as it is denoised, on standard error: in place on a terminal, with fresh tokens
/// highlighted; elsewhere, and where the text is taller than the terminal, about eight lines from the first
/// step to the last.
class CanvasView {
 public:
  CanvasView(const tokenizers::Tokenizer& tokenizer, int64_t mask_token);

  void show(const generation::DenoisingStep& step);

 private:
  std::string render(const generation::DenoisingStep& step, bool in_place) const;
  bool redraw(const generation::DenoisingStep& step);

  const tokenizers::Tokenizer& tokenizer_;
  int64_t mask_token_;
  bool terminal_;
  int64_t lines_ = 0;  ///< of the last picture, on a terminal
};

}  // namespace megadlm::apps
