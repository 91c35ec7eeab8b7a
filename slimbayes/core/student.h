#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/density/unit.h"

namespace slimbayes {

/// The standard Student-t distribution with `dof` degrees of freedom, elementwise over a tensor z of any
/// shape, float64. An infinite `dof` is the standard normal distribution. All throw std::invalid_argument
/// unless dof > 0.
at::Tensor student_log_density(const at::Tensor& z, double dof);  // differentiable in z
/// P(T <= z), with full relative accuracy in the left tail. For the right tail use P(T > z) = P(T <= -z).
at::Tensor student_cdf(const at::Tensor& z, double dof);

/// Returns the CRPS of the distribution at z, elementwise. The CRPS of location + scale T at y is scale times
/// that at (y - location) / scale. Throws std::invalid_argument unless dof > 1, below which it is infinite
/// (Jordan, Krueger and Lerch 2019, Evaluating probabilistic forecasts with scoringRules, appendix A).
at::Tensor student_unit_crps(const at::Tensor& z, double dof);

}  // namespace slimbayes
