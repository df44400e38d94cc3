#include "ops/adamw/adamw.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "base/error.h"
#include "ops/adamw/kernels.h"
#include "ops/adamw/reference.h"
#include "ops/simd/isa.h"
#include "ops/simd/row_blocks.h"
#include "ops/simd/tensors.h"

namespace megadlm::ops {
namespace {

constexpr int64_t kBlock = 1 << 15;  // elements; sums of a block do not depend on the number of threads

const AdamWKernels& kernels(const at::Tensor& tensor) {
  if (tensor.is_cuda()) return cuda::adamw_kernels;
  return MEGADLM_CHOOSE_KERNELS(adamw_kernels);
}

}  // namespace

void adamw_step(at::Tensor& master, at::Tensor& exp_avg, at::Tensor& exp_avg_sq, const at::Tensor& gradient,
                at::Tensor* compute_copy, const AdamWStep& step) {
  for (const at::Tensor* tensor :
       {static_cast<const at::Tensor*>(&exp_avg), static_cast<const at::Tensor*>(&exp_avg_sq), &gradient,
        static_cast<const at::Tensor*>(compute_copy)}) {
    base::require(tensor == nullptr || tensor->sizes() == master.sizes(),
                  "adamw: moments, gradient and copy must have the weight's shape");
  }
  const bool on_device = fits_cuda_kernels(master) && fits_cuda_kernels(gradient);
  const bool fits = (on_device || (fits_kernels(master) && fits_kernels(gradient))) &&
                    master.is_contiguous() && exp_avg.is_contiguous() && exp_avg_sq.is_contiguous() &&
                    (compute_copy == nullptr || (is_bf16(*compute_copy) && compute_copy->is_contiguous()));
  report_choice("adamw", fits ? kernels_name(master) : "reference",
                fits ? "" : "a type or device has no kernel");
  if (!fits) {
    reference::adamw_step(master, exp_avg, exp_avg_sq, gradient, compute_copy, step);
    return;
  }
  const at::Tensor plain = gradient.contiguous();
  AdamWKernels::Step arguments{};
  arguments.master = master.mutable_data_ptr<float>();
  arguments.exp_avg = exp_avg.mutable_data_ptr<float>();
  arguments.exp_avg_sq = exp_avg_sq.mutable_data_ptr<float>();
  arguments.gradient = plain.const_data_ptr();
  arguments.compute_copy = compute_copy == nullptr ? nullptr : compute_copy->mutable_data_ptr();
  arguments.decay = static_cast<float>(1 - step.lr * step.weight_decay);
  arguments.beta1 = static_cast<float>(step.beta1);
  arguments.beta2 = static_cast<float>(step.beta2);
  arguments.rest1 = static_cast<float>(1 - step.beta1);
  arguments.rest2 = static_cast<float>(1 - step.beta2);
  arguments.step_size = static_cast<float>(step.lr / (1 - std::pow(step.beta1, step.step)));
  arguments.inverse_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(step.beta2, step.step)));
  arguments.epsilon = static_cast<float>(step.eps);
  arguments.gradient_scale = step.gradient_scale;
  const auto run = is_bf16(plain) ? kernels(plain).step_bf16 : kernels(plain).step_f32;
  for_rows(master, master.numel(), kBlock, [&](int64_t begin, int64_t end) { run(arguments, begin, end); });
}

double squared_norm(const at::Tensor& gradient) {
  if (!fits_kernels(gradient)) return reference::squared_norm(gradient);
  const at::Tensor plain = gradient.contiguous();
  const int64_t count = plain.numel(), blocks = (count + kBlock - 1) / kBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  const auto run = is_bf16(plain) ? kernels(plain).squares_bf16 : kernels(plain).squares_f32;
  const void* values = plain.const_data_ptr();
  at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      sums[i] = run(values, i * kBlock, std::min(count, (i + 1) * kBlock));
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

void accumulate(at::Tensor& sum, const at::Tensor& gradient) {
  if (!fits_kernels(sum) || !fits_kernels(gradient) || !sum.is_contiguous() || !gradient.is_contiguous()) {
    const at::NoGradGuard no_gradient;
    sum.add_(gradient);
    return;
  }
  base::require(sum.sizes() == gradient.sizes(), "accumulate: sum and gradient differ in shape");
  const auto run = is_bf16(gradient) ? kernels(sum).add_bf16 : kernels(sum).add_f32;
  at::parallel_for(0, sum.numel(), kBlock, [&](int64_t begin, int64_t end) {
    run(sum.mutable_data_ptr<float>(), gradient.const_data_ptr(), begin, end);
  });
}

}  // namespace megadlm::ops
