#include "slimbayes/ntk/gradient_kernel.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "slimbayes/ntk/layer_gradients.h"

namespace slimbayes {

at::Tensor gradient_kernel(const GradientModel& model, const GradientRows& a, const GradientRows& b) {
  check_rows(a, "gradient_kernel");
  check_rows(b, "gradient_kernel");
  const at::NoGradGuard no_grad;
  at::Tensor kernel = at::zeros({a.size, b.size}, at::kDouble);
  if (a.size == 0 || b.size == 0) return kernel;
  const PlannedRows of_a{model, a, gradient_plan(model, a)}, of_b{model, b, of_a.plan};
  const int64_t step = rows_at_once(of_a.plan, model, a.size + b.size);
  for (int64_t i = 0; i < a.size; i += step) {
    const auto rows = gradient_blocks(of_a, i, std::min(a.size, i + step));
    for (int64_t j = 0; j < b.size; j += step) {
      for (const GradientBlock& y : gradient_blocks(of_b, j, std::min(b.size, j + step)))
        for (const GradientBlock& x : rows)
          kernel.slice(0, x.from, x.to).slice(1, y.from, y.to).copy_(kernel_tile(x, y));
    }
  }
  return kernel;
}

at::Tensor gradient_norms(const GradientModel& model, const GradientRows& rows) {
  check_rows(rows, "gradient_norms");
  const at::NoGradGuard no_grad;
  at::Tensor norms = at::zeros({rows.size}, at::kDouble);
  if (rows.size == 0) return norms;
  const PlannedRows planned{model, rows, gradient_plan(model, rows)};
  const int64_t step = std::min<int64_t>(256, rows_at_once(planned.plan, model, rows.size));
  for (int64_t i = 0; i < rows.size; i += step)
    for (const GradientBlock& x : gradient_blocks(planned, i, std::min(rows.size, i + step)))
      norms.slice(0, x.from, x.to).copy_(kernel_diagonal(x));
  return norms;
}

}  // namespace slimbayes
