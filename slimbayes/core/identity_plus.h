#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// A factorisation of H = I + c A, the precision of a posterior in coordinates in which its prior is standard
/// normal; A [r, r] is a Gram matrix. Either `factor` is defined, or `values` and `vectors` are.
struct IdentityPlus {
  at::Tensor factor;        // [r, r] lower L, L L^T = H
  at::Tensor values = {};   // [r] the eigenvalues of H, at least 1; exactly 1 where the rows say nothing
  at::Tensor vectors = {};  // [r, r] one eigenvector per column
};

/// Factorises I + c A for a symmetric A, positive semidefinite up to rounding, and c >= 0. It needs no jitter
/// for any c. Up to 1e10 on the diagonal of c A the factor is Cholesky's. Beyond, as for a prior that is wide
/// beside the noise, rounding in c A would drown the identity: then the spectrum of A takes its place, and
/// eigenvalues that rounding does not tell from 0 (resolved) count as 0. Throws NumericalError as
/// safe_cholesky and spectrum do. Float64, without gradients.
IdentityPlus identity_plus(const at::Tensor& a, double c);

/// Returns X with X^T X = x^T H^-1 x, for x [r, b]: L^-1 x, or the same norms by the spectrum. [r, b]
at::Tensor solve_half(const IdentityPlus& h, const at::Tensor& x);

/// Returns H^-1 x for x [r, b] in the range of A. With a spectrum, a part of x outside that range counts as
/// rounding and is left out. [r, b]
at::Tensor solve(const IdentityPlus& h, const at::Tensor& x);

/// Returns log |H|. Scalar.
at::Tensor log_det(const IdentityPlus& h);

/// Returns the eigenvalues of a Gram matrix [r] with those as 0 that rounding does not tell from 0: up to
/// 16 r epsilon of the largest. [r]
at::Tensor resolved(const at::Tensor& values);

}  // namespace slimbayes
