#include "slimbayes/train/adamw.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/kernels/kernels.h"

namespace slimbayes {

namespace {

constexpr double kBeta1 = 0.9, kEps = 1e-8;

/// Returns whether the kernels can update a group, as the engine computes its gradient.
bool by_kernel(const ParameterGroup& group) {
  return !kernels::all_kernels().empty() && group.value.device().is_cpu() && group.value.is_contiguous() &&
         group.value.scalar_type() == at::kFloat && group.grad.is_contiguous();
}

kernels::AdamWStep constants(const ParameterGroup& group, double beta2, double factor, double step) {
  const auto number = [](double x) { return static_cast<float>(x); };
  return {number(group.learning_rate * factor),
          number(group.weight_decay),
          number(kBeta1),
          number(beta2),
          number(kEps),
          number(1 - std::pow(kBeta1, step)),
          number(1 - std::pow(beta2, step))};
}

}  // namespace

AdamW::AdamW(std::vector<ParameterGroup> groups, double beta2)
    : groups_(std::move(groups)),
      beta2_(beta2),
      count_(at::zeros(
          {},
          at::dtype(at::kFloat).device(groups_.empty() ? at::Device(at::kCPU) : groups_[0].value.device()))) {
  for (const ParameterGroup& group : groups_) {
    internal_check(group.value.device() == count_.device(), "AdamW", "groups on several devices");
    first_.push_back(at::zeros_like(group.value));
    second_.push_back(at::zeros_like(group.value));
  }
}

void AdamW::zero_grad() {
  for (ParameterGroup& group : groups_) group.grad.zero_();
}

void AdamW::step(double factor) {
  at::NoGradGuard no_grad;
  count_ += 1;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const ParameterGroup& group = groups_[i];
    if (group.value.numel() == 0) continue;
    if (by_kernel(group)) {
      kernels::kernels().adamw(group.value.numel(), constants(group, beta2_, factor, count_.item<float>()),
                               group.value.data_ptr<float>(), group.grad.const_data_ptr<float>(),
                               first_[i].data_ptr<float>(), second_[i].data_ptr<float>());
      continue;
    }
    at::TensorList none;
    at::_fused_adamw_(at::TensorList(group.value), at::TensorList(group.grad), at::TensorList(first_[i]),
                      at::TensorList(second_[i]), none, at::TensorList(count_), group.learning_rate * factor,
                      kBeta1, beta2_, group.weight_decay, kEps, false, false);
  }
}

std::vector<at::Tensor> AdamW::state() const {
  std::vector<at::Tensor> out;
  for (size_t i = 0; i < groups_.size(); ++i) {
    out.push_back(first_[i]);
    out.push_back(second_[i]);
  }
  out.push_back(count_);
  return out;
}

void AdamW::restore(const std::vector<at::Tensor>& state) {
  std::vector<at::Tensor> own = this->state();
  for (size_t i = 0; i < own.size(); ++i) own[i].copy_(state.at(i));
}

}  // namespace slimbayes
