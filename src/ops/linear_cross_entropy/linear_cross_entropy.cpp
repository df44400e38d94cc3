#include "ops/linear_cross_entropy/linear_cross_entropy.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "ops/adamw/adamw.h"
#include "ops/gemm/gemm.h"
#include "ops/linear_cross_entropy/kernels.h"
#include "ops/linear_cross_entropy/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/row_blocks.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kChunkBytes = int64_t{48} << 20;  // logits that exist at once
constexpr int64_t kSmallestChunk = 128;             // rows

const CrossEntropyKernels& kernels(const at::Tensor& hidden) {
  if (hidden.is_cuda()) return cuda::cross_entropy_kernels;
  return MEGADLM_CHOOSE_KERNELS(cross_entropy_kernels);
}

int64_t rows_of_chunk(const at::Tensor& hidden, int64_t valid_vocab) {
  return std::max(kSmallestChunk, kChunkBytes / std::max<int64_t>(valid_vocab * hidden.element_size(), 1));
}

/// Rows of zeros up to a multiple that grows with their number, so that products have few different sizes:
/// oneDNN builds and keeps code for each.
at::Tensor with_whole_rows(const at::Tensor& hidden) {
  const int64_t rows = hidden.size(0);
  const auto unit =
      std::max<int64_t>(16, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rows))) / 32);
  const int64_t whole = (rows + unit - 1) / unit * unit;
  return whole == rows ? hidden.contiguous() : at::constant_pad_nd(hidden, {0, 0, 0, whole - rows});
}

/// Memory for the logits of one call and, where they come in chunks, for the fp32 sum of the weight's
/// gradient over them. Its size is one of few, whatever the number of rows, so that each step finds the block
/// of the step before.
class GradientWorkspace {
 public:
  GradientWorkspace(const at::Tensor& hidden, int64_t vocab_size) : hidden_(hidden), vocab_size_(vocab_size) {
    const int64_t element = hidden.element_size(), size = std::max<int64_t>(hidden.size(1), 1);
    // A chunk has as many rows as hidden sizes; with the fp32 sum it takes as much as so many rows of logits.
    const int64_t most = size * (4 + element) / element;
    const int64_t rows = hidden.size(0);
    single_ = rows <= most;
    chunk_ = single_ ? std::max<int64_t>(rows, 1) : size;
    int64_t capacity = most;
    while (capacity / 2 >= std::max<int64_t>(rows, 16)) capacity /= 2;
    const int64_t bytes = capacity * vocab_size * element;
    bytes_ = at::empty({std::max(bytes, bytes_of_sum() + chunk_ * vocab_size * element)},
                       hidden.options().dtype(at::kByte));
  }

  bool single() const { return single_; }
  int64_t chunk() const { return chunk_; }
  at::Tensor logits(int64_t rows) const {
    const int64_t begin = bytes_of_sum();
    return bytes_.slice(0, begin, begin + rows * vocab_size_ * hidden_.element_size())
        .view(hidden_.scalar_type())
        .view({rows, vocab_size_});
  }
  at::Tensor sum() const {
    return bytes_.slice(0, 0, bytes_of_sum()).view(at::kFloat).view({vocab_size_, -1});
  }

 private:
  int64_t bytes_of_sum() const { return single_ ? 0 : 4 * vocab_size_ * hidden_.size(1); }

  at::Tensor hidden_, bytes_;
  int64_t vocab_size_, chunk_ = 0;
  bool single_ = true;
};

/// sum of losses x weights in double, in the order of the rows: the same for any number of threads.
at::Tensor weighted_sum(const at::Tensor& losses, const at::Tensor& weights) {
  if (!losses.device().is_cpu()) return (losses.to(at::kDouble) * weights).sum().to(at::kFloat);
  const float *loss = losses.const_data_ptr<float>(), *weight = weights.const_data_ptr<float>();
  double total = 0;
  for (int64_t i = 0; i < losses.numel(); ++i) total += static_cast<double>(loss[i]) * weight[i];
  return at::scalar_tensor(total, at::kFloat);
}

/// Turns the logits of the first `rows` rows into losses, by `run`, and where it asks so into their gradient.
void run_rows(void (*run)(const CrossEntropyKernels::Rows&, int64_t, int64_t), int64_t rows,
              at::Tensor& logits, const int64_t* targets, const float* weights, float* losses) {
  const CrossEntropyKernels::Rows arguments{logits.mutable_data_ptr(), targets, weights, losses,
                                            logits.size(1)};
  for_rows(logits, rows, 1, [&](int64_t first, int64_t last) { run(arguments, first, last); });
}

/// Loss and both gradients in one go over chunks of rows: the logits of a chunk become its gradient in place.
struct LinearCrossEntropyFunction : torch::autograd::Function<LinearCrossEntropyFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden_in, const at::Tensor& weight,
                            const at::Tensor& targets, const at::Tensor& weights, int64_t valid_vocab) {
    const at::Tensor hidden = with_whole_rows(hidden_in), valid = weight.slice(0, 0, valid_vocab);
    const int64_t rows = hidden_in.size(0), whole = hidden.size(0);
    const GradientWorkspace workspace(hidden, valid_vocab);
    at::Tensor losses = at::empty({rows}, hidden.options().dtype(at::kFloat));
    at::Tensor grad_hidden = at::empty_like(hidden), grad_weight = at::empty_like(weight), sum;
    const at::Tensor grad_valid = grad_weight.slice(0, 0, valid_vocab);
    grad_weight.slice(0, rows == 0 ? 0 : valid_vocab).zero_();
    const auto run =
        is_bf16(hidden) ? kernels(hidden).loss_and_gradient_bf16 : kernels(hidden).loss_and_gradient_f32;
    for (int64_t begin = 0; begin < rows; begin += workspace.chunk()) {
      const int64_t end = std::min(whole, begin + workspace.chunk());
      const at::Tensor part = hidden.slice(0, begin, end);
      at::Tensor logits = workspace.logits(end - begin);
      matrix_product_into(logits, part, valid.t());
      run_rows(run, std::min(rows, end) - begin, logits, targets.const_data_ptr<int64_t>() + begin,
               weights.const_data_ptr<float>() + begin, losses.mutable_data_ptr<float>() + begin);
      matrix_product_into(grad_hidden.slice(0, begin, end), logits, valid);
      matrix_product_into(grad_valid, logits.t(), part);
      if (workspace.single()) break;
      if (begin == 0) {
        sum = workspace.sum();
        sum.copy_(grad_valid);
      } else {
        accumulate(sum, grad_valid);
      }
    }
    if (sum.defined()) grad_valid.copy_(sum);
    context->save_for_backward({grad_hidden.slice(0, 0, rows), grad_weight});
    return weighted_sum(losses, weights);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    at::Tensor grad_hidden = saved[0], grad_weight = saved[1];
    if (gradients[0].item<float>() != 1.0f) {
      grad_hidden = (grad_hidden * gradients[0]).to(grad_hidden.scalar_type());
      grad_weight = (grad_weight * gradients[0]).to(grad_weight.scalar_type());
    }
    return {grad_hidden, grad_weight, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

void check(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
           int64_t valid_vocab) {
  base::require(hidden.dim() == 2 && weight.dim() == 2 && hidden.size(1) == weight.size(1),
                "linear_cross_entropy: hidden must be [n, h] and the weight [V, h]");
  base::require(targets.dim() == 1 && targets.size(0) == hidden.size(0),
                "linear_cross_entropy: targets must be [n]");
  base::require(valid_vocab >= 1 && valid_vocab <= weight.size(0),
                "linear_cross_entropy: {} valid of {} columns", valid_vocab, weight.size(0));
  if (targets.numel() == 0 || !targets.device().is_cpu()) return;
  const auto [lowest, highest] = at::aminmax(targets);
  base::require(lowest.item<int64_t>() >= 0 && highest.item<int64_t>() < valid_vocab,
                "linear_cross_entropy: targets {} to {} are not all within 0 to {}", lowest.item<int64_t>(),
                highest.item<int64_t>(), valid_vocab - 1);
}

/// Whether the kernels take this call; says so.
bool use_kernels(const at::Tensor& hidden, const at::Tensor& weight) {
  const bool fits =
      (fits_kernels(hidden) || fits_cuda_kernels(hidden)) && hidden.scalar_type() == weight.scalar_type();
  report_choice("linear_cross_entropy", fits ? kernels_name(hidden) : "reference",
                fits ? "" : "the type or device has no kernel");
  return fits;
}

}  // namespace

at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                const at::Tensor& weights, int64_t valid_vocab) {
  check(hidden, weight, targets, valid_vocab);
  base::require(weights.sizes() == targets.sizes(), "linear_cross_entropy: weights must be [n]");
  if (!use_kernels(hidden, weight)) {
    return reference::linear_cross_entropy(hidden, weight, targets, weights, valid_vocab);
  }
  if (!at::GradMode::is_enabled() || !(hidden.requires_grad() || weight.requires_grad())) {
    return weighted_sum(linear_cross_entropy_rows(hidden, weight, targets, valid_vocab),
                        weights.contiguous());
  }
  return LinearCrossEntropyFunction::apply(hidden, weight, targets.contiguous(), weights.contiguous(),
                                           valid_vocab);
}

at::Tensor linear_cross_entropy_rows(const at::Tensor& given, const at::Tensor& weight,
                                     const at::Tensor& targets, int64_t valid_vocab) {
  check(given, weight, targets, valid_vocab);
  const at::NoGradGuard no_gradient;
  const bool kernel = use_kernels(given, weight);
  const at::Tensor hidden = kernel ? with_whole_rows(given) : given;
  const auto run = is_bf16(hidden) ? kernels(hidden).loss_bf16 : kernels(hidden).loss_f32;
  const at::Tensor valid = weight.slice(0, 0, valid_vocab), wanted = targets.contiguous();
  const int64_t rows = given.size(0), chunk = rows_of_chunk(hidden, valid_vocab);
  at::Tensor losses = at::empty({rows}, hidden.options().dtype(at::kFloat));
  for (int64_t begin = 0; begin < rows; begin += chunk) {
    const int64_t end = std::min(rows, begin + chunk);
    const at::Tensor part = hidden.slice(0, begin, begin + chunk);
    if (kernel) {
      at::Tensor logits = matrix_product(part, valid.t());
      run_rows(run, end - begin, logits, wanted.const_data_ptr<int64_t>() + begin, nullptr,
               losses.mutable_data_ptr<float>() + begin);
    } else {
      losses.slice(0, begin, end)
          .copy_(reference::linear_cross_entropy_rows(part, valid, wanted.slice(0, begin, end), valid_vocab));
    }
  }
  return losses;
}

}  // namespace megadlm::ops
