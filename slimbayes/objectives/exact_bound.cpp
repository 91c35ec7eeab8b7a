#include "slimbayes/objectives/exact_bound.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

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
  check_features(phi);
  ExactSums out = sums;
  out.statistics = added(sums.statistics, rows);
  const at::Tensor weight = on_device(rows.weight, phi.device());
  const auto total = [&](const at::Tensor& x) {
    const at::Tensor each = x.to(at::kDouble);
    return (weight.defined() ? each * weight : each).sum().item<double>();
  };
  if (correction.defined()) out.correction += total(correction);
  if (phi.size(0) == 0) return out;
  at::Tensor prior_var = phi.square().sum(1);  // [b]
  auto [most, which] = prior_var.max(0);
  out.prior_var += total(prior_var);
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
  const double n = sums.statistics.n;
  double trace = sums.correction + alpha * (n * sums.largest - sums.prior_var);
  out.penalty = trace / (2 * noise_var);
  out.grad_noise_var = (out.evidence_gradient.log_sigma2 + out.penalty) / noise_var;
  out.alpha = alpha;
  out.largest_row = sums.largest_row;
  return out;
}

void check_features(const at::Tensor& features) {
  if (!std::isfinite(features.sum().item<double>()))
    throw NumericalError(
        "[exact_bound] expected finite features; received others; lower the learning rate or look for "
        "extreme inputs");
}

FeatureDerivative feature_derivative(const ExactBound& bound) {
  const double noise = bound.posterior.model.sigma2, n = bound.posterior.statistics.n;
  FeatureDerivative out{2 * bound.evidence_gradient.S, bound.evidence_gradient.c, bound.posterior.constant};
  if (bound.alpha == 0) return out;
  out.S.diagonal().add_(bound.alpha / noise);
  out.largest = -bound.alpha * n / noise;
  return out;
}

ExactRowGradient row_gradient(const ExactBound& bound, const LinearRows& rows, int64_t first) {
  at::NoGradGuard no_grad;
  const FeatureDerivative of = feature_derivative(bound);
  at::Tensor phi = rows.features.to(at::kDouble);
  const at::Device device = phi.device();
  at::Tensor y = on_device(rows.y, device).to(at::kDouble) - of.constant;
  const at::Tensor weight = on_device(rows.weight, device);
  ExactRowGradient out;
  out.features = at::mm(phi, on_device(of.S, device)).addr_(y, on_device(of.c, device));
  if (weight.defined()) out.features.mul_(weight.unsqueeze(1));
  const int64_t largest = bound.largest_row - first;
  if (of.largest != 0 && largest >= 0 && largest < phi.size(0))
    out.features.select(0, largest).add_(phi.select(0, largest), of.largest);
  const double each = -0.5 / bound.posterior.model.sigma2;
  out.correction = weight.defined() ? weight * each : at::full({}, each, phi.options());
  return out;
}

}  // namespace slimbayes
