#include "slimbayes/train/sharpness_aware.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace slimbayes {

GradientStep sharpness_aware(const TrainProblem& problem, GradientStep step) {
  const std::vector<std::string>& groups = problem.sharp_groups;
  std::vector<at::Tensor> values, gradients, all;
  for (const ParameterGroup& group : problem.groups) {
    all.push_back(group.grad);
    if (std::ranges::find(groups, group.name) == groups.end()) continue;
    values.push_back(group.value);
    gradients.push_back(group.grad);
  }
  return [=, radius = problem.sharpness, step = std::move(step), buffers = problem.buffers](
             const Batch& batch, const StepContext& at) {
    const double loss = step(batch, at).value();
    at::NoGradGuard no_grad;
    double squares = 0;
    for (const at::Tensor& g : gradients) squares += g.square().sum(at::kDouble).item<double>();
    const double norm = std::sqrt(squares);
    if (!(norm > 0) || !std::isfinite(norm)) return loss;
    std::vector<at::Tensor> before, averages;
    for (const at::Tensor& value : values) before.push_back(value.clone());
    for (const at::Tensor& buffer : buffers) averages.push_back(buffer.clone());
    for (size_t i = 0; i < values.size(); ++i) values[i].add_(gradients[i], radius / norm);
    for (const at::Tensor& g : all) g.zero_();
    double there = 0;
    {
      at::AutoGradMode with_grad(true);
      there = step(batch, at).value();
    }
    for (size_t i = 0; i < values.size(); ++i) values[i].copy_(before[i]);
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i].copy_(averages[i]);
    return std::isfinite(there) ? loss : there;
  };
}

}  // namespace slimbayes
