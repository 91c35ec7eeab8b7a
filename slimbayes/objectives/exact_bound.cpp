#include "slimbayes/objectives/exact_bound.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "slimbayes/core/check.h"

// The evidence l depends on the features only through S = Phi^T Phi and c = Phi^T (y - constant). Let G =
// dl/dS and g = dl/dc be its derivatives, which are known after pass 1. Then the gradient with respect to the
// features phi of one row is 2 G phi + (y - constant) g. So pass 2 can take the rows batch by batch, and only
// one batch at a time has an autograd graph.
//
// The term -trace / (2 noise) of the bound adds alpha / noise phi to the gradient of every row, and subtracts
// alpha n / noise phi from that of the row with the largest ||phi||^2. The derivative with respect to the
// correction of a row is -1 / (2 noise); the autograd graph of the correction carries it on to phi.

namespace slimbayes {

ExactSums exact_sums(int64_t rank) { return {linear_statistics(rank)}; }

ExactSums added(const ExactSums& sums, const LinearRows& rows, const at::Tensor& correction, int64_t first) {
  at::NoGradGuard no_grad;
  at::Tensor phi = rows.features.to(at::kDouble);
  if (!at::isfinite(phi.sum()).item<bool>())
    throw NumericalError(
        "[exact_bound] expected finite features; received others; lower the learning rate or look for "
        "extreme inputs");
  ExactSums out = sums;
  out.statistics = added(sums.statistics, {phi, rows.y, {}});
  if (correction.defined()) out.correction += correction.sum(at::kDouble).item<double>();
  if (phi.size(0) == 0) return out;
  at::Tensor prior_var = phi.square().sum(1);  // [b]
  auto [most, which] = prior_var.max(0);
  out.prior_var += prior_var.sum().item<double>();
  int64_t row = first + which.item<int64_t>();
  double largest = most.item<double>();
  bool none = sums.statistics.n == 0;
  if (none || largest > sums.largest || (largest == sums.largest && row < sums.largest_row)) {
    out.largest = largest;
    out.largest_row = row;
  }
  return out;
}

ExactBound exact_bound(const ExactSums& sums, double noise_var, double alpha) {
  at::NoGradGuard no_grad;
  ExactBound out;
  out.posterior = linear_posterior(sums.statistics, {noise_var, {}, /*fit_mean=*/true});
  out.evidence_gradient = evidence_gradient(out.posterior);
  out.evidence = log_evidence(out.posterior);
  double n = static_cast<double>(sums.statistics.n);
  double trace = sums.correction + alpha * (n * sums.largest - sums.prior_var);
  out.penalty = trace / (2 * noise_var);
  out.grad_noise_var = (out.evidence_gradient.log_sigma2 + out.penalty) / noise_var;
  out.alpha = alpha;
  out.largest_row = sums.largest_row;
  return out;
}

ExactRowGradient row_gradient(const ExactBound& bound, const LinearRows& rows, int64_t first) {
  at::NoGradGuard no_grad;
  double noise = bound.posterior.model.sigma2;
  at::Tensor phi = rows.features.to(at::kDouble);
  at::Tensor y = rows.y.to(at::kDouble) - bound.posterior.constant;
  ExactRowGradient out;
  out.features = at::mm(phi, 2 * bound.evidence_gradient.S).addr_(y, bound.evidence_gradient.c);
  if (bound.alpha != 0) {
    out.features.add_(phi, bound.alpha / noise);
    int64_t largest = bound.largest_row - first;
    double n = static_cast<double>(bound.posterior.statistics.n);
    if (largest >= 0 && largest < phi.size(0))
      out.features.select(0, largest).sub_(phi.select(0, largest), bound.alpha * n / noise);
  }
  out.correction = at::full({}, -0.5 / noise, at::kDouble);
  return out;
}

}  // namespace slimbayes
