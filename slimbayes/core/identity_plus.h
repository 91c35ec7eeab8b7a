#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// A factorisation of H = I + c A, the precision of a posterior in coordinates in which its prior is standard
/// normal; A [r, r] is a Gram matrix. Either `factor` is defined, or `values` and `vectors` are.
struct IdentityPlus {
  at::Tensor factor;        // [r, r] lower L, L L^T = H
  at::Tensor values = {};   // [r] the eigenvalues of H, at least 1; exactly 1 where A has the eigenvalue 0
  at::Tensor vectors = {};  // [r, r] one eigenvector per column
};

/// Factorises I + c A for a symmetric A, positive semidefinite up to rounding, and c >= 0. It needs no jitter
/// for any c. While the diagonal of c A is at most 1e10, the factor is Cholesky's. Larger values occur for a
/// prior that is wide compared with the noise; rounding errors of c A would then exceed the identity. So the
/// spectrum of A is used instead, and eigenvalues that rounding cannot distinguish from 0 count as 0
/// (resolved). Throws NumericalError as safe_cholesky and spectrum do. Float64, without gradients.
IdentityPlus identity_plus(const at::Tensor& a, double c);

/// Returns a matrix X with X^T X = x^T H^-1 x, for x [r, b]: L^-1 x if H has a Cholesky factor L, else D^-1/2
/// V^T x with the eigendecomposition H = V D V^T. [r, b]
at::Tensor solve_half(const IdentityPlus& h, const at::Tensor& x);

/// Returns H^-1 x for x [r, b] in the range of A. With a spectrum, a part of x outside that range counts as
/// rounding and is left out. [r, b]
at::Tensor solve(const IdentityPlus& h, const at::Tensor& x);

/// Returns log |H|. Scalar.
at::Tensor log_det(const IdentityPlus& h);

/// Returns the eigenvalues of a Gram matrix [r] after setting to 0 those that rounding cannot distinguish
/// from 0: up to 16 r epsilon times the largest. [r]
at::Tensor resolved(const at::Tensor& values);

}  // namespace slimbayes
