#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// The Cholesky factor L of A + jitter I: L L^T = A + jitter I.
struct Cholesky {
  at::Tensor factor;  // [r, r] lower triangular
  double jitter;      // 0 unless the plain factorisation failed
};

/// Computes a Cholesky factorisation; all code of the library factorises through this function. `a` is
/// [r, r]; only its lower triangle is read. Tries the plain factorisation first. If it fails, adds jitter to
/// the diagonal: 1e-12 times the mean diagonal, then ten times more in each further attempt, `tries` attempts
/// in all (0: no jitter). Differentiable; the jitter counts as a constant. Throws NumericalError if `a` holds
/// NaN or infinity (the message gives the matrix size and how many elements), and if every attempt fails (the
/// message gives the size, the first non-positive pivot and a remedy).
Cholesky safe_cholesky(const at::Tensor& a, int tries = 8);

/// Returns log |L L^T| for a Cholesky factor L [r, r]. Differentiable. Scalar.
at::Tensor log_det(const at::Tensor& factor);

/// Returns L^-1 x for L [r, r] lower triangular and x [r, b]. Differentiable. [r, b]
at::Tensor solve_lower(const at::Tensor& factor, const at::Tensor& x);

/// Returns (L L^T)^-1 x for L [r, r] lower triangular and x [r, b]. Differentiable. [r, b]
at::Tensor solve_cholesky(const at::Tensor& factor, const at::Tensor& x);

/// Returns the Cholesky factor of L L^T + X^T X, for L [r, r] in float64 and X = `rows` [k, r], in O(k r^2).
/// Float64, without gradients. A factor given with std::move is overwritten if nothing else holds it (see
/// writable); otherwise it is copied. [r, r]
at::Tensor cholesky_updated(at::Tensor factor, const at::Tensor& rows);

/// Returns the Cholesky factor of L L^T - X^T X, for the same arguments as cholesky_updated and at the same
/// cost. Throws NumericalError if that matrix is not positive definite in float64; a factor given with
/// std::move is then lost. [r, r]
at::Tensor cholesky_downdated(at::Tensor factor, const at::Tensor& rows);

/// A variance computed as a difference, after rounding errors below zero were removed.
struct RoundedVariance {
  at::Tensor var;   // the variance, with slightly negative elements set to 0
  int64_t clipped;  // the number of elements that were set to 0
};

/// Cleans a variance `var` that is a difference of terms of size `scale` (a scalar or the shape of `var`).
/// Elements between -1e-10 times their scale and 0 become 0 and are counted. Throws NumericalError if an
/// element lies below that or is NaN. An element whose scale is not finite (a term overflowed) becomes NaN;
/// the other elements are not affected.
RoundedVariance rounded_variance(const at::Tensor& var, const at::Tensor& scale);

/// The spectrum of a symmetric positive semidefinite matrix: a = vectors diag(values) vectors^T.
struct Spectrum {
  at::Tensor values;   // [r] ascending, >= 0
  at::Tensor vectors;  // [r, r] one eigenvector per column
};

/// Computes the spectrum of a symmetric positive semidefinite matrix a [r, r]; only its lower triangle is
/// read. Eigenvalues between -1e-10 of the largest and 0 become 0. Throws NumericalError for NaN or infinite
/// elements and for an eigenvalue below that.
Spectrum spectrum(const at::Tensor& a);

}  // namespace slimbayes
