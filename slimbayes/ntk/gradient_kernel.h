#pragma once

#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// Returns K_m(a_i, b_j) = <phi_m(a_i), phi_m(b_j)>, the inner products of the gradients with respect to the
/// parameters before the last layer. Products are in the type of the model, sums over layers in float64. A
/// module whose layers are not known takes one backward pass for each row of a, and for each row of b one for
/// each range of a that fits into memory. [n, m] float64
at::Tensor gradient_kernel(const GradientModel& model, const GradientRows& a, const GradientRows& b);

/// Returns the squared norm of the gradient phi_m(x_i) of each row x_i (gradient_model.h): the diagonal of
/// gradient_kernel. [n] float64
at::Tensor gradient_norms(const GradientModel& model, const GradientRows& rows);

}  // namespace slimbayes
