#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// L with L L^T = A + jitter I.
struct Cholesky {
  at::Tensor factor;  // [r, r] lower triangular
  double jitter;      // 0 unless the plain factorisation failed
};

/// The Cholesky factorisation that all code uses. It checks `a` for NaN and infinity, factorises it, and if
/// that fails adds jitter to the diagonal: 1e-12 times the mean diagonal, then ten times more in each of
/// `tries` attempts (0: no jitter). `a` is [r, r]; only its lower triangle is read. Differentiable, with the
/// jitter as a constant. Throws NumericalError for NaN or infinity, giving the matrix size and their number,
/// and when every attempt fails, giving the size, the first non-positive pivot and a remedy.
Cholesky safe_cholesky(const at::Tensor& a, int tries = 8);

/// log |L L^T|. Differentiable. Scalar.
at::Tensor log_det(const at::Tensor& factor);

/// L^-1 x, for L [r, r] and x [r, b]. Differentiable. [r, b]
at::Tensor solve_lower(const at::Tensor& factor, const at::Tensor& x);

/// (L L^T)^-1 x, for x [r, b]. Differentiable. [r, b]
at::Tensor solve_cholesky(const at::Tensor& factor, const at::Tensor& x);

/// The factor of L L^T + X^T X, for X [k, r], in O(k r^2). Float64. [r, r]
at::Tensor cholesky_updated(const at::Tensor& factor, const at::Tensor& rows);

/// The factor of L L^T - X^T X. Throws NumericalError when that is not positive definite in float64. [r, r]
at::Tensor cholesky_downdated(const at::Tensor& factor, const at::Tensor& rows);

/// A variance that rounding may have made negative.
struct RoundedVariance {
  at::Tensor var;   // the same, negative elements 0
  int64_t clipped;  // how many there were
};

/// Elements in (-1e-10 x scale, 0) become 0 and are counted; below that, or NaN, throws NumericalError. Where
/// the scale is not finite, a term overflowed: that element alone is NaN. `scale` (a scalar or the shape of
/// `var`) is the size of the terms whose difference `var` is.
RoundedVariance rounded_variance(const at::Tensor& var, const at::Tensor& scale);

}  // namespace slimbayes
