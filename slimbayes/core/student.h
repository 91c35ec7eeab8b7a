#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/density/unit.h"

namespace slimbayes {

/// Returns the log density of the standard Student-t distribution with `dof` degrees of freedom, elementwise
/// over a tensor z of any shape; differentiable in z. An infinite `dof` is the standard normal distribution.
/// Throws std::invalid_argument unless dof > 0. density/unit.h has the same of a number.
at::Tensor student_log_density(const at::Tensor& z, double dof);

}  // namespace slimbayes
