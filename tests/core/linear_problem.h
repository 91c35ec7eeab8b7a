#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <numbers>

#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"

// A Bayesian linear regression, and the same by the n x n matrices of its Gaussian process.

namespace slimbayes {

struct Problem {
  LinearRows rows;
  LinearModel model;
  at::Tensor test;  // [5, r]
};

// Draws a problem. prior is the factor T: 0 the identity, 1 a scalar, 2 lower triangular, 3 a full matrix.
inline Problem problem(int64_t n, int64_t r, double sigma2, bool d, int prior, bool fit_mean,
                       uint64_t seed = 1) {
  Stream s(seed);
  at::Tensor phi = s.split("phi").normal({n, r}), factor;
  if (prior == 1) factor = at::scalar_tensor(1.7, at::kDouble);
  if (prior >= 2) factor = s.split("T").normal({r, r}) / std::sqrt(r) + 0.5 * at::eye(r, at::kDouble);
  if (prior == 2) factor = factor.tril();
  at::Tensor noise = s.split("noise").normal({n}) * std::sqrt(sigma2);
  at::Tensor y = at::mv(phi, s.split("w").normal({r})) + noise + 2.0;
  return {{phi, y, d ? 0.5 + s.split("d").uniform({n}) : at::Tensor()},
          {sigma2, factor, fit_mean},
          s.split("test").normal({5, r})};
}

inline LinearStatistics statistics(const LinearRows& rows, double y_shift = 0) {
  return added(linear_statistics(rows.features.size(1), y_shift), rows);
}

inline LinearRows part(const LinearRows& all, int64_t from, int64_t to) {
  return {all.features.slice(0, from, to), all.y.slice(0, from, to),
          all.d.defined() ? all.d.slice(0, from, to) : all.d};
}

struct Dense {
  at::Tensor constant, mean, var, log_evidence;
};

// Computes the Gaussian process with covariance sigma2 D + Phi P Phi^T by n x n matrices, differentiably.
inline Dense dense(const LinearRows& rows, const LinearModel& model, const at::Tensor& test,
                   double fixed = 0) {
  int64_t n = rows.features.size(0), r = rows.features.size(1);
  at::Tensor t = model.prior_factor.defined() ? model.prior_factor : at::ones({}, at::kDouble);
  at::Tensor p = t.dim() == 0 ? t * t * at::eye(r, at::kDouble) : at::mm(t, t.t());
  at::Tensor one = at::ones({n, 1}, at::kDouble), d = rows.d.defined() ? rows.d : one.squeeze(1);
  at::Tensor c = at::mm(at::mm(rows.features, p), rows.features.t()) + model.sigma2 * at::diag(d);
  at::Tensor l = at::linalg_cholesky(c);
  auto solve = [&](const at::Tensor& x) { return at::cholesky_solve(x, l); };
  at::Tensor y = rows.y.unsqueeze(1), constant = at::full({}, fixed, at::kDouble);
  if (model.fit_mean) constant = (one * solve(y)).sum() / (one * solve(one)).sum();
  at::Tensor alpha = solve(y - constant);
  at::Tensor cross = at::mm(at::mm(test, p), rows.features.t());
  at::Tensor own = (at::mm(test, p) * test).sum(1);
  if (model.fit_mean)  // Rasmussen and Williams, eq. 2.42, with a flat prior on the constant
    own = own + (1 - at::mm(cross, solve(one)).squeeze(1)).square() / (one * solve(one)).sum();
  at::Tensor evidence = -0.5 * (n * std::log(2 * std::numbers::pi) + 2 * l.diagonal().log().sum() +
                                ((y - constant) * alpha).sum());
  return {constant, constant + at::mm(cross, alpha).squeeze(1), own - (cross.t() * solve(cross.t())).sum(0),
          evidence};
}

inline double relative(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}
inline double relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

}  // namespace slimbayes
