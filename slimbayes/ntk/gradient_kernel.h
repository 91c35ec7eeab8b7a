#pragma once

#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// Returns K_m(a_i, b_j) = <phi_m(a_i), phi_m(b_j)> for all rows a_i of `a` and b_j of `b`, where phi_m(x) is
/// the gradient of the chosen output of x with respect to the parameters before the last layer. Products are
/// in the type of the model, sums over layers in float64. If the layers of the model are not known, the
/// gradient of a row takes one backward pass. The rows of `a` are then read once, in ranges that fit into
/// memory, and the rows of `b` once for each range. [a.size, b.size] float64, on the CPU
at::Tensor gradient_kernel(const GradientModel& model, const GradientRows& a, const GradientRows& b);

/// Returns the squared norm of the gradient phi_m(x_i) of each row x_i, that is the diagonal of
/// gradient_kernel(model, rows, rows). [n] float64, on the CPU
at::Tensor gradient_norms(const GradientModel& model, const GradientRows& rows);

}  // namespace slimbayes
