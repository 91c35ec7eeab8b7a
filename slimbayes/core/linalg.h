#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// A Cholesky factorisation of A + jitter I: L L^T = A + jitter I.
struct Cholesky {
  at::Tensor factor;  // [r, r] L, lower triangular
  double jitter;      // 0 if A could be factorised unchanged
};

/// Returns a Cholesky factorisation of `a` [r, r], of which only the lower triangle is read. All code of the
/// library factorises through this function. It first tries `a` unchanged. If that fails, it adds a jitter to
/// the diagonal: 1e-12 times the mean diagonal, then ten times more in each further attempt, for at most
/// `tries` attempts (0: no jitter). Differentiable; the jitter counts as a constant. Throws NumericalError if
/// `a` has NaN or infinite elements (the message gives the matrix size and their number), or if every attempt
/// fails (the message gives the size, the first pivot that is not positive, and a remedy).
Cholesky safe_cholesky(const at::Tensor& a, int tries = 8);

/// Returns the log determinant log |L L^T| for a Cholesky factor L [r, r], as a scalar tensor.
/// Differentiable.
at::Tensor log_det(const at::Tensor& factor);

/// Returns L^-1 x for L [r, r] lower triangular and x [r, b]. Differentiable. [r, b]
at::Tensor solve_lower(const at::Tensor& factor, const at::Tensor& x);

/// Returns (L L^T)^-1 x for L [r, r] lower triangular and x [r, b]. Differentiable. [r, b]
at::Tensor solve_cholesky(const at::Tensor& factor, const at::Tensor& x);

/// Returns the Cholesky factor of L L^T + X^T X in O(k r^2), for the float64 factor L [r, r] and
/// X = `rows` [k, r], both on the CPU. Without gradients. A factor given with std::move is overwritten if
/// no other tensor shares its elements (see writable); otherwise it is copied. [r, r]
at::Tensor cholesky_updated(at::Tensor factor, const at::Tensor& rows);

/// Returns the Cholesky factor of L L^T - X^T X, with the same arguments and cost as cholesky_updated().
/// Throws NumericalError if that matrix is not positive definite in float64; a factor given with std::move is
/// then lost. [r, r]
at::Tensor cholesky_downdated(at::Tensor factor, const at::Tensor& rows);

/// A variance that was computed as a difference, with rounding errors below 0 removed.
struct RoundedVariance {
  at::Tensor var;   // the variance, with slightly negative elements set to 0
  int64_t clipped;  // the number of elements that were set to 0
};

/// Removes rounding errors from a variance `var` that was computed as a difference of numbers of size `scale`
/// (a scalar, or one scale per element). Elements from -1e-10 scale to 0 become 0 and are counted. A smaller
/// element, or a NaN, is more than a rounding error: throws NumericalError. If the scale of an element is not
/// finite, because one of the numbers overflowed, the element becomes NaN and the others are treated as
/// usual.
RoundedVariance rounded_variance(const at::Tensor& var, const at::Tensor& scale);

/// Returns the squared distances |u_i - v_j|^2 of the rows of u [n, h] and v [m, h], both float64.
/// Differentiable. They are |u|^2 + |v|^2 - 2 u.v, one matrix product, while no |v|^2 exceeds 1e4: the error
/// is then below 1e-11 or 1e-14 of the distance. Beyond that, where the lengthscale of a kernel is far below
/// the spread of its inputs, that sum could give two equal rows a distance and a kernel matrix negative
/// eigenvalues; then the differences are squared, which takes two to ten times as long. v alone decides, so
/// that a row of u has the same distances whatever the others are. [n, m]
at::Tensor squared_distances(const at::Tensor& u, const at::Tensor& v);

/// The eigendecomposition of a symmetric positive semidefinite matrix, vectors diag(values) vectors^T.
struct Spectrum {
  at::Tensor values;   // [r] ascending, >= 0
  at::Tensor vectors;  // [r, r] one eigenvector per column
};

/// Returns the eigendecomposition of a symmetric positive semidefinite matrix a [r, r], of which only the
/// lower triangle is read. Eigenvalues between -1e-10 times the largest and 0 count as rounding errors and
/// become 0. Throws NumericalError if `a` has NaN or infinite elements or a more negative eigenvalue.
Spectrum spectrum(const at::Tensor& a);

}  // namespace slimbayes
