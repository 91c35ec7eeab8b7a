#include "slimbayes/train/sharpness_aware.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/core/writable.h"

namespace slimbayes {

namespace {

using Tensors = std::vector<at::Tensor>;

/// Moves the values by `radius` along their gradient g / |g|. Returns false, and moves nothing, if |g| is 0
/// or not finite.
bool moved_uphill(const Tensors& values, const Tensors& gradients, double radius) {
  double squares = 0;
  for (const at::Tensor& g : gradients) squares += g.square().sum(at::kDouble).item<double>();
  const double norm = std::sqrt(squares);
  if (!(norm > 0) || !std::isfinite(norm)) return false;
  for (size_t i = 0; i < values.size(); ++i) values[i].add_(gradients[i], radius / norm);
  return true;
}

/// Does the same on a device without waiting for it: if there is no direction, the values move by 0.
void move_uphill_on_device(const Tensors& values, const Tensors& gradients, double radius) {
  if (gradients.empty()) return;
  at::Tensor squares;
  for (const at::Tensor& g : gradients) {
    const at::Tensor own = g.square().sum(at::kDouble);
    squares = squares.defined() ? squares + own : own;
  }
  const at::Tensor share = radius / squares.sqrt();
  const at::Tensor factor = at::where(share.isfinite(), share, 0.0);
  for (size_t i = 0; i < values.size(); ++i) values[i].add_(gradients[i] * factor);
}

/// Returns `first`, or `second` if that is not finite.
StepLoss loss_of_passes(const StepLoss& first, const StepLoss& second) {
  if (first.pending().defined() && second.pending().defined())
    return at::where(second.pending().isfinite(), first.pending(), second.pending());
  return std::isfinite(second.value()) ? first : second;
}

}  // namespace

GradientStep sharpness_aware(const TrainProblem& problem, GradientStep step) {
  const std::vector<std::string>& groups = problem.sharp_groups;
  Tensors values, gradients, all;
  for (const ParameterGroup& group : problem.groups) {
    all.push_back(group.grad);
    if (std::ranges::find(groups, group.name) == groups.end()) continue;
    values.push_back(group.value);
    gradients.push_back(group.grad);
  }
  const bool on_cpu = device_of(problem).is_cpu();
  return [=, radius = problem.sharpness, step = std::move(step), buffers = problem.buffers](
             const Batch& batch, const StepContext& at) -> StepLoss {
    const StepLoss loss = step(batch, at);
    at::NoGradGuard no_grad;
    const Tensors before = copies_of(values), averages = copies_of(buffers);
    const auto move_back = [&] {
      for (size_t i = 0; i < values.size(); ++i) values[i].copy_(before[i]);
      for (size_t i = 0; i < buffers.size(); ++i) buffers[i].copy_(averages[i]);
    };
    StepLoss there = loss;
    try {
      if (!on_cpu)
        move_uphill_on_device(values, gradients, radius);
      else if (!moved_uphill(values, gradients, radius))
        return loss;
      for (const at::Tensor& g : all) g.zero_();
      at::AutoGradMode with_grad(true);
      there = step(batch, at);
    } catch (...) {
      move_back();  // a checkpoint may follow
      throw;
    }
    move_back();
    return loss_of_passes(loss, there);
  };
}

}  // namespace slimbayes
