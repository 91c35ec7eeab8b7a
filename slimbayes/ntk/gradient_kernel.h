#pragma once

#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// Returns K_m(a_i, b_j) = <phi_m(a_i), phi_m(b_j)>, the inner products of the gradients of the earlier
/// parameters. Products in the type of the model, sums over layers in float64. An opaque module costs one
/// backward pass per row (of b once for each range of a). [n, m] float64
at::Tensor gradient_kernel(const GradientModel& model, const GradientRows& a, const GradientRows& b);

/// Returns ||phi_m(x_i)||^2 of each row. [n] float64
at::Tensor gradient_norms(const GradientModel& model, const GradientRows& rows);

}  // namespace slimbayes
