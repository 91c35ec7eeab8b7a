#include "slimbayes/core/student.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

at::Tensor student_log_density(const at::Tensor& z, double dof) {
  if (!(dof > 0)) refuse("student_log_density", "more than 0 degrees of freedom", fmt::format("{}", dof));
  if (std::isinf(dof)) return student_log_constant(dof) - 0.5 * z.square();
  return student_log_constant(dof) - (dof + 1) / 2 * at::log1p(z.square() / dof);
}

}  // namespace slimbayes
