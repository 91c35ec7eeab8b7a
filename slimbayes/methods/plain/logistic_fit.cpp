// The mode and the evidence of a logistic regression.
//
// Mode        The loss is convex. Newton's method with step halving finds its minimum; a step comes from a
//             Cholesky factor of the full Hessian or, for many coefficients, from conjugate gradients that
//             are preconditioned with Boehning's bound.
// Evidence    For each prior sd of the search the mode is found anew, from the last one.
#include "slimbayes/methods/plain/logistic_fit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/log_range.h"

namespace slimbayes {

namespace {

constexpr int kMostSteps = 100, kMostHalvings = 40;
constexpr double kRoughly = 1e-5;  // nats: to which the loss is minimised while the evidence is compared

double sum_of_products(const at::Tensor& a, const at::Tensor& b) { return (a * b).sum().item<double>(); }

/// Returns the Hessian's inverse times the gradient by conjugate gradients, to a tenth. [k, d + 1]
at::Tensor conjugate_step(const LogisticRows& rows, const LogisticLoss& at, double prior_sd) {
  constexpr int kMostProducts = 60;
  constexpr double kShare = 0.01;  // of the squared residual, in the metric of the bound
  at::Tensor step = at::zeros_like(at.gradient), residual = at.gradient.clone();
  at::Tensor scaled = rows.over_bound(residual, prior_sd), along = scaled;
  double size = sum_of_products(residual, scaled);
  const double enough = kShare * size;
  for (int i = 0; i < kMostProducts && size > enough; ++i) {
    const at::Tensor product = rows.hessian_times(at, along, prior_sd);
    const double length = size / sum_of_products(along, product);
    step = step + length * along;
    residual = residual - length * product;
    scaled = rows.over_bound(residual, prior_sd);
    const double before = size;
    size = sum_of_products(residual, scaled);
    along = scaled + (size / before) * along;
  }
  return step;
}

at::Tensor precision_of(const LogisticLoss& at) {
  return at.matrix.full + at::eye(at.matrix.full.size(0), at::kDouble);
}

at::Tensor newton_step(const LogisticRows& rows, const LogisticLoss& at, double prior_sd) {
  if (!rows.full()) return conjugate_step(rows, at, prior_sd);
  const at::Tensor factor = safe_cholesky(precision_of(at)).factor;
  return solve_cholesky(factor, at.gradient.reshape({-1, 1})).view_as(at.gradient);
}

}  // namespace

LogisticMode logistic_mode(const LogisticRows& rows, double prior_sd, const at::Tensor& start,
                           double tolerance) {
  constexpr double kSlope = 1e-4;      // share of the decrease that the gradient predicts
  constexpr double kRounding = 1e-12;  // of the loss
  LogisticMode now{start, rows.loss(start, prior_sd)};
  for (bool ended = false; !ended && now.steps < kMostSteps; ++now.steps) {
    if (!std::isfinite(now.loss.value))
      throw NumericalError(
          "[logistic] expected a finite likelihood; received none; look for extreme columns");
    const at::Tensor step = newton_step(rows, now.loss, prior_sd);
    const double decrease = sum_of_products(step, now.loss.gradient);
    ended = decrease < 2 * tolerance;
    double length = 1;
    for (int i = 0; i < kMostHalvings; ++i, length /= 2) {
      at::Tensor next = now.coefficients - length * step;
      LogisticLoss there = rows.loss(next, prior_sd);
      const double most = now.loss.value - kSlope * length * decrease + kRounding * (1 + now.loss.value);
      if (there.value <= most) {
        now.coefficients = std::move(next);
        now.loss = std::move(there);
        break;
      }
      ended = ended || i + 1 == kMostHalvings;
    }
  }
  return now;
}

double log_evidence(const LogisticRows& rows, const LogisticMode& mode, double prior_sd) {
  const GaussNewton& h = mode.loss.matrix;
  if (rows.full())
    return -mode.loss.value - 0.5 * log_det(safe_cholesky(precision_of(mode.loss)).factor).item<double>();
  const at::Tensor classes = spectrum(h.classes).values / static_cast<double>(h.n);
  return -mode.loss.value -
         0.5 * at::outer(rows.feature_values(prior_sd), classes).log1p().sum().item<double>();
}

double evidence_prior_sd(const LogisticRows& rows, Callback* callback) {
  at::Tensor weights = at::zeros({rows.contrasts(), rows.columns() + 1}, at::kDouble);  // the last mode
  double last_sd = 1;
  bool any = false;
  const auto score = [&](double var) {
    const double sd = std::sqrt(var);
    if (any && asked_to_end(callback)) return std::numeric_limits<double>::infinity();
    any = true;
    weights.narrow(1, 0, rows.columns()).mul_(last_sd / sd);
    const LogisticMode mode = logistic_mode(rows, sd, weights, kRoughly);
    weights = mode.coefficients.clone();
    last_sd = sd;
    return -log_evidence(rows, mode, sd);
  };
  const LeastScore best = least_score({1e-6 / rows.scale(), 1e4 / rows.scale()}, score);
  if (!std::isfinite(best.score))
    throw NumericalError("[logistic] expected a finite evidence; received none; look for extreme columns");
  return std::sqrt(best.at);
}

}  // namespace slimbayes
