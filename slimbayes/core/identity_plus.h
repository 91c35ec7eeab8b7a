#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/export.h"

namespace slimbayes {

/// A factorisation of H = I + c A, where A [r, r] is a Gram matrix and c >= 0. H is the precision of a
/// Gaussian posterior in coordinates in which the prior is N(0, I). It holds either a Cholesky factor
/// (`factor`) or an eigendecomposition (`values` and `vectors`); the other tensors are undefined.
struct IdentityPlus {
  at::Tensor factor;        // [r, r] lower L, L L^T = H
  at::Tensor values = {};   // [r] the eigenvalues of H, at least 1; exactly 1 where A has the eigenvalue 0
  at::Tensor vectors = {};  // [r, r] one eigenvector per column
};

/// Returns a factorisation of I + c A without jitter, for a symmetric A that is positive semidefinite up to
/// rounding, and c >= 0. If no diagonal element of c A exceeds 1e10, it holds the Cholesky factor. Larger
/// elements occur if the prior is wide compared with the noise. The rounding errors of c A would then exceed
/// the identity, so the result holds the eigenvalues 1 + c lambda instead, with lambda = 0 where an
/// eigenvalue lambda of A is too small to be distinguished from 0 (resolved). Throws NumericalError if A has
/// NaN or infinite elements, or negative eigenvalues that are too large to be rounding errors. Float64,
/// without gradients.
SLIMBAYES_EXPORT IdentityPlus identity_plus(const at::Tensor& a, double c);

/// Returns H^-1/2 x in the sense of a matrix X with X^T X = x^T H^-1 x; the squared norms of its columns are
/// posterior variances. X is L^-1 x for a Cholesky factor L, and D^-1/2 V^T x for an eigendecomposition H = V
/// D V^T. x [r, b]. [r, b]
SLIMBAYES_EXPORT at::Tensor solve_half(const IdentityPlus& h, const at::Tensor& x);

/// Returns H^-1 x for x [r, b] whose columns lie in the range of A. If H holds an eigendecomposition, a
/// component of x outside this range is taken for a rounding error and left out. [r, b]
SLIMBAYES_EXPORT at::Tensor solve(const IdentityPlus& h, const at::Tensor& x);

/// Returns H^-1 [r, r], symmetric.
SLIMBAYES_EXPORT at::Tensor inverse(const IdentityPlus& h);

/// Returns the log determinant of H, log |H|, as a scalar tensor.
SLIMBAYES_EXPORT at::Tensor log_det(const IdentityPlus& h);

/// Replaces the eigenvalues of a Gram matrix that are too small to be distinguished from 0 by 0, and returns
/// all of them. An eigenvalue is too small if it is at most 16 r epsilon times the largest (epsilon of
/// float64): rounding errors in the matrix cause eigenvalues of this size. values [r]. [r]
SLIMBAYES_EXPORT at::Tensor resolved(const at::Tensor& values);

}  // namespace slimbayes
