#pragma once

#include <cstdint>

namespace slimbayes {

/// How fast a loss can change with the outputs z of a network (Euclidean norm). A number that is infinite
/// gives no bound.
///
/// Source: Toure and Stephens, C.5, for the Lipschitz constants; Boehning 1992 for the curvature of cross
/// entropy. No function here throws but loss_change().
struct LossSlope {
  double lipschitz;   // L: |loss(z') - loss(z)| <= L |z' - z| for all z and z'
  double gradient;    // G: the largest norm of the gradient at the network's own outputs on the rows
  double smoothness;  // beta: the Lipschitz constant of the gradient
};

/// The absolute error sum_i |z_i - y_i| of d outputs: L = sqrt(d), because |x|_1 <= sqrt(d) |x|_2. (The
/// paper, C.5, says 1, which holds for d = 1 alone.) It has no smooth gradient.
LossSlope absolute_slope(int64_t outputs);

/// Half of the squared error, |z - y|^2 / 2: beta = 1. Its gradient z - y is not bounded, so there is no L;
/// `gradient` is the largest |z - y| over the rows.
LossSlope half_square_slope(double gradient);

/// Cross entropy of softmax: L = sqrt(2); beta = 1/2, the largest eigenvalue that diag(p) - p p^T can have.
/// `gradient` is the largest |p - e_y| over the rows. With `one_logit`, that of a sigmoid of one output:
/// L = 1, beta = 1/4.
LossSlope cross_entropy_slope(double gradient, bool one_logit);

/// Returns the most by which the loss of a row can change if the outputs change by at most `change` >= 0 in
/// the Euclidean norm: min(L change, G change + beta change^2 / 2), the second by Taylor's theorem. Throws
/// std::invalid_argument unless `change` is at least 0 (a NaN is not).
double loss_change(const LossSlope& slope, double change);

}  // namespace slimbayes
