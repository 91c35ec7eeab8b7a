#include "slimbayes/train/gradient_norm.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

void clip_gradients(std::vector<ParameterGroup>& groups, double most) {
  double square = 0;
  for (const ParameterGroup& group : groups)
    square += at::linalg_vector_norm(group.grad.to(at::kDouble)).square().item<double>();
  const double norm = std::sqrt(square);
  if (!std::isfinite(norm))
    throw NumericalError(
        fmt::format("[train] expected a gradient of finite norm; received {}; lower the learning rate or "
                    "look for extreme inputs",
                    norm));
  if (norm <= most) return;
  for (ParameterGroup& group : groups) group.grad.mul_(most / norm);
}

}  // namespace slimbayes
