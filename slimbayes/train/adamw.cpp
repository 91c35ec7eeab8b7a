#include "slimbayes/train/adamw.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace slimbayes {

AdamW::AdamW(std::vector<ParameterGroup> groups)
    : groups_(std::move(groups)), count_(at::zeros({}, at::kFloat)) {
  for (const ParameterGroup& group : groups_) {
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
    at::TensorList none;
    at::_fused_adamw_(at::TensorList(group.value), at::TensorList(group.grad), at::TensorList(first_[i]),
                      at::TensorList(second_[i]), none, at::TensorList(count_), group.learning_rate * factor,
                      0.9, 0.999, group.weight_decay, 1e-8, false, false);
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
