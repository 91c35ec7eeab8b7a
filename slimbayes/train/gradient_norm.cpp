#include "slimbayes/train/gradient_norm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns the norm of the gradients of groups on a device, after it has scaled them.
at::Tensor clip_on_device(std::vector<ParameterGroup>& groups, double most) {
  const at::NoGradGuard no_grad;
  at::Tensor square;
  for (const ParameterGroup& group : groups) {
    const at::Tensor own = at::linalg_vector_norm(group.grad.to(at::kDouble)).square();
    square = square.defined() ? square + own : own;
  }
  at::Tensor norm = square.sqrt();
  const at::Tensor factor = (most / norm).clamp_max(1);  // NaN where the norm is
  for (ParameterGroup& group : groups) group.grad.mul_(factor);
  return norm;
}

}  // namespace

at::Tensor clip_gradients(std::vector<ParameterGroup>& groups, double most) {
  if (!groups.empty() && !groups[0].grad.device().is_cpu()) return clip_on_device(groups, most);
  double square = 0;
  for (const ParameterGroup& group : groups)
    square += at::linalg_vector_norm(group.grad.to(at::kDouble)).square().item<double>();
  const double norm = std::sqrt(square);
  if (!std::isfinite(norm))
    throw NumericalError(
        fmt::format("[train] expected a gradient of finite norm; received {}; lower the learning rate or "
                    "look for extreme inputs",
                    norm));
  if (norm <= most) return {};
  for (ParameterGroup& group : groups) group.grad.mul_(most / norm);
  return {};
}

}  // namespace slimbayes
