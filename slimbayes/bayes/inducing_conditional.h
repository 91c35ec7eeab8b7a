#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// One side, rows or columns, of the prior that inducing weights share with a matrix W. The prior is
///
///   U = Z_r W Z_c^T + G_r E_2 D_c + D_r E_3 G_c^T + D_r E_4 D_c
///
/// with independent standard normal elements of W [n_r, n_c] and of the noises E, and G G^T = Z Z^T. So U
/// [m_r, m_c] is matrix normal with the covariances K = Z Z^T + D^2 of its rows and of its columns, and
/// Cov(W, U) has the factors Z_r^T and Z_c^T (FiD-GP, eq. 4 to 6 and appendix B; Ritter et al. 2021). An
/// object holds what conditioning on U needs of one side. It is computed once a step and serves all layers'
/// passes of this step.
struct InducingSide {
  at::Tensor z;     // Z [m, n]
  at::Tensor sd;    // the diagonal of D [m], with the jitter of the factorisation if there was one
  at::Tensor chol;  // L [m, m], L L^T = K = Z Z^T + D^2, in float64
  at::Tensor
      root;       // G [m, k]: Z itself (k = n) or, where n is far larger than m, the Cholesky factor of Z Z^T
  double jitter;  // what the factorisation of K added to D^2; 0 unless K is singular in float64
};

/// Returns the side of Z [m, n] with the sds `sd` [m], all above 0. m may exceed n. Gram matrix and
/// factorisations in float64, the result but for `chol` in the type of Z. Differentiable. Throws
/// NumericalError as safe_cholesky() does.
InducingSide inducing_side(const at::Tensor& z, const at::Tensor& sd);

/// Returns the whitened matrix v [..., m_r, m_c] as U = L_r V L_c^T. Standard normal elements of V give U its
/// prior.
at::Tensor unwhitened(const InducingSide& rows, const InducingSide& columns, const at::Tensor& v);

/// Returns E[W | U] = Z_r^T K_r^-1 U K_c^-1 Z_c: u [..., m_r, m_c] -> [..., n_r, n_c]. The inverses act on U
/// in float64, and so do Z of few columns; a long Z is multiplied in its own type.
at::Tensor conditional_mean(const InducingSide& rows, const InducingSide& columns, const at::Tensor& u);

/// Standard normal numbers for one conditional draw: W's own and the three noises of U.
struct MatheronNoise {
  at::Tensor w;   // [..., n_r, n_c]
  at::Tensor e2;  // [..., k_r, m_c]
  at::Tensor e3;  // [..., m_r, k_c]
  at::Tensor e4;  // [..., m_r, m_c]
};

/// Draws the noise of one conditional draw in float32, on the device of Z.
MatheronNoise matheron_noise(const InducingSide& rows, const InducingSide& columns, const Stream& stream);

/// Returns mean + scale e for e of the shape of `mean` and a scalar tensor `scale`. Differentiable with
/// respect to both but not e.
at::Tensor with_noise(const at::Tensor& mean, const at::Tensor& e, const at::Tensor& scale);

/// Returns a draw of W given U by Matheron's rule, with its deviation from E[W | U] multiplied by
/// `noise_scale`, a scalar tensor: 1 gives the conditional distribution of the prior. Two products of the
/// size of W: the mean's, and the noise's with the larger Z. [..., n_r, n_c]
at::Tensor conditional_draw(const InducingSide& rows, const InducingSide& columns, const at::Tensor& u,
                            const at::Tensor& noise_scale, const MatheronNoise& noise);

/// Returns KL(N(m, s^2 C) || N(m, C)) = n (s^2 / 2 - log s - 1/2) for n dimensions: what scaling the
/// conditional noise by s costs (FiD-GP, eq. 11). `noise_scale` scalar, above 0. Differentiable.
at::Tensor conditional_kl(const at::Tensor& noise_scale, int64_t dimensions);

}  // namespace slimbayes
