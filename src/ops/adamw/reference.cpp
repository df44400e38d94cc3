#include "ops/adamw/reference.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

namespace megadlm::ops::reference {

void adamw_step(at::Tensor& master, at::Tensor& exp_avg, at::Tensor& exp_avg_sq, const at::Tensor& gradient,
                at::Tensor* compute_copy, const AdamWStep& step) {
  const at::NoGradGuard no_gradient;
  const at::Tensor scaled = gradient.to(at::kFloat) * step.gradient_scale;
  master.mul_(1 - step.lr * step.weight_decay);
  exp_avg.mul_(step.beta1).add_(scaled, 1 - step.beta1);
  exp_avg_sq.mul_(step.beta2).addcmul_(scaled, scaled, 1 - step.beta2);
  const double correction1 = 1 - std::pow(step.beta1, step.step),
               correction2 = 1 - std::pow(step.beta2, step.step);
  const at::Tensor denominator = (exp_avg_sq.sqrt() / std::sqrt(correction2)).add_(step.eps);
  master.addcdiv_(exp_avg, denominator, -step.lr / correction1);
  if (compute_copy != nullptr) compute_copy->copy_(master);
}

double squared_norm(const at::Tensor& gradient) {
  return gradient.to(at::kFloat).square().sum(at::kDouble).item<double>();
}

}  // namespace megadlm::ops::reference
