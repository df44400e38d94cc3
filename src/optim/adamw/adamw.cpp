#include "optim/adamw/adamw.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "ops/adamw/adamw.h"

namespace megadlm::optim {

AdamW::AdamW(std::vector<nn::Parameter>& parameters, const config::OptimizerOptions& options,
             at::ScalarType compute_type)
    : parameters_(parameters), options_(options), compute_type_(compute_type) {
  for (nn::Parameter& parameter : parameters_) {
    const at::Tensor master = parameter.value.detach();
    slots_.push_back({master, at::zeros_like(master), at::zeros_like(master), {}, {}});
    if (compute_type_ != at::kFloat) parameter.value = master.to(compute_type_).requires_grad_(true);
  }
}

void AdamW::collect_gradients(bool last) {
  summing_ = summing_ || !last;
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    at::Tensor& gradient = parameters_[i].value.mutable_grad();
    if (!summing_) {
      slot.gradient = std::move(gradient);
    } else if (gradient.defined()) {
      if (!slot.sum.defined()) slot.sum = at::zeros_like(slot.master);
      ops::accumulate(slot.sum, gradient);
      slot.gradient = slot.sum;
    }
    gradient.reset();
  }
}

double AdamW::gradient_norm(double multiplier) const {
  double sum = 0;
  for (const Slot& slot : slots_) {
    if (slot.gradient.defined()) sum += ops::squared_norm(slot.gradient);
  }
  return std::sqrt(sum) * multiplier;
}

std::optional<std::string> AdamW::first_non_finite_gradient() const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].gradient.defined() && !std::isfinite(ops::squared_norm(slots_[i].gradient))) {
      return parameters_[i].name;
    }
  }
  return std::nullopt;
}

void AdamW::step(double learning_rate, double multiplier, double gradient_norm) {
  ++steps_;
  double scale = multiplier;
  if (options_.clip_grad > 0 && gradient_norm > options_.clip_grad) {
    scale *= options_.clip_grad / (gradient_norm + 1e-6);
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.gradient.defined()) slot.gradient = at::zeros_like(slot.master);
    const ops::AdamWStep step{.lr = learning_rate,
                              .beta1 = options_.adam_beta1,
                              .beta2 = options_.adam_beta2,
                              .eps = options_.adam_eps,
                              .weight_decay = parameters_[i].decay ? options_.weight_decay : 0.0,
                              .step = steps_,
                              .gradient_scale = static_cast<float>(scale)};
    at::Tensor compute_copy = parameters_[i].value.detach();
    ops::adamw_step(slot.master, slot.exp_avg, slot.exp_avg_sq, slot.gradient,
                    compute_type_ == at::kFloat ? nullptr : &compute_copy, step);
  }
  discard_gradients();
}

void AdamW::discard_gradients() {
  for (Slot& slot : slots_) {
    slot.gradient.reset();
    if (slot.sum.defined()) slot.sum.zero_();
  }
  summing_ = false;
}

std::vector<std::pair<std::string, at::Tensor>> AdamW::masters() const {
  std::vector<std::pair<std::string, at::Tensor>> result;
  for (size_t i = 0; i < slots_.size(); ++i) result.emplace_back(parameters_[i].name, slots_[i].master);
  return result;
}

std::vector<std::pair<std::string, at::Tensor>> AdamW::states() const {
  std::vector<std::pair<std::string, at::Tensor>> result;
  for (size_t i = 0; i < slots_.size(); ++i) {
    result.emplace_back(parameters_[i].name + ".exp_avg", slots_[i].exp_avg);
    result.emplace_back(parameters_[i].name + ".exp_avg_sq", slots_[i].exp_avg_sq);
  }
  return result;
}

void AdamW::refresh_compute_copies() {
  if (compute_type_ == at::kFloat) return;
  const at::NoGradGuard no_gradient;
  for (size_t i = 0; i < slots_.size(); ++i) parameters_[i].value.copy_(slots_[i].master);
}

}  // namespace megadlm::optim
