#pragma once

#include <ATen/ATen.h>

#include <numbers>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/objectives/head_gradient.h"

namespace slimbayes {

// The objectives as their papers write them. The tests compare the closed forms and the two-pass gradient
// with them. Shapes: features [b, r], y [b], offset [1], noise_var scalar; the posterior has one latent
// function, and `rows` is the number n of training rows.

/// Returns the trace regulariser (N-15; E-11). Scalar.
inline at::Tensor trace_regulariser(const at::Tensor& features, const at::Tensor& noise_var) {
  at::Tensor prior_var = features.square().sum(-1);  // ||phi||^2 [b]
  return (prior_var.max() - prior_var.mean()) / (2 * noise_var);
}

inline VariationalLoss gaussian_bound(const at::Tensor& features, const at::Tensor& correction,
                                      const at::Tensor& y, const VariationalPosterior& posterior,
                                      const at::Tensor& offset, const at::Tensor& noise_var, double rows,
                                      const HeadObjective& objective) {
  Latent f = posterior.latent(features, offset);
  if (correction.defined()) f.epistemic_var = f.epistemic_var + correction.unsqueeze(1);
  VariationalLoss loss = variational_bound(GaussianLikelihood{noise_var}, f, y,
                                           {posterior, rows, objective.beta}, objective.data);
  if (objective.alpha != 0)
    loss.total = loss.total + objective.alpha * trace_regulariser(features, noise_var);
  return loss;
}

/// Returns log p(y) for y = offset + <w, phi> + noise, w ~ N(0, I) (N-11). With e = y - offset, H = I + Phi^T
/// Phi / noise and the posterior mean m = H^-1 Phi^T e / noise it is -1/2 (n log(2 pi noise) + log|H| + ||e -
/// Phi m||^2 / noise + ||m||^2). features [n, r], y [n], offset and noise_var scalars, float64. Scalar.
inline at::Tensor mml(const at::Tensor& features, const at::Tensor& y, const at::Tensor& offset,
                      const at::Tensor& noise_var) {
  check_shape(features, {-1, -1}, "mml", "features");
  check_shape(y, {features.size(0)}, "mml", "y");
  at::Tensor phi = features.to(at::kDouble), noise = noise_var.to(at::kDouble);
  at::Tensor error = y.to(at::kDouble) - offset.to(at::kDouble);                    // [n]
  at::Tensor h = at::mm(phi.t(), phi) / noise + at::eye(phi.size(1), at::kDouble);  // [r, r]
  at::Tensor factor = safe_cholesky(h, /*tries=*/0).factor;
  at::Tensor m = solve_cholesky(factor, at::mv(phi.t(), error).unsqueeze(1) / noise).squeeze(1);  // [r]
  at::Tensor square = (error - at::mv(phi, m)).square().sum() / noise + m.square().sum();
  double n = static_cast<double>(phi.size(0));
  return -0.5 * (n * at::log(2 * std::numbers::pi * noise) + log_det(factor) + square);
}

/// Returns the collapsed sparse bound (N-3; Titsias 2009): mml - sum correction / (2 noise_var). It never
/// exceeds the dense log evidence of the kernel k~ that the features approximate. correction [n] is k~(x, x)
/// - ||phi||^2 (N-4), or alpha (max ||phi||^2 - ||phi||^2) for E-11. Scalar.
inline at::Tensor collapsed_bound(const at::Tensor& features, const at::Tensor& correction,
                                  const at::Tensor& y, const at::Tensor& offset,
                                  const at::Tensor& noise_var) {
  check_shape(correction, {features.size(0)}, "collapsed_bound", "correction");
  return mml(features, y, offset, noise_var) -
         correction.to(at::kDouble).sum() / (2 * noise_var.to(at::kDouble));
}

}  // namespace slimbayes
