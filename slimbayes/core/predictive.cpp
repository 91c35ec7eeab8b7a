// Functions of the answers, and the standard normal quantile that they need.
//
// The quantile solves Phi(x) = p by Newton's method in the form where rounding is harmless: erf(x / sqrt 2) =
// 2p - 1 in the centre (both sides keep their relative accuracy near 0), log Phi(x) = log p in the tails.
// Both functions are concave on the side used and the starts lie left of the root, so the steps increase to
// it without a safeguard.

#include "slimbayes/core/predictive.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "slimbayes/core/check.h"
#include "slimbayes/core/count_distribution.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

namespace {

constexpr int kSteps = 60;  // a bound never reached: about 6 are taken
constexpr double kRoot2 = std::numbers::sqrt2;

double density(double x) { return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / kRoot2; }

double central_quantile(double q) {  // erf(x / sqrt 2) = q, 0 <= q <= 1/2
  double x = q * std::sqrt(std::numbers::pi / 2);
  for (int i = 0; i < kSteps; ++i) {
    double step = (q - std::erf(x / kRoot2)) / (2 * density(x));
    x += step;
    if (step <= 1e-15 * x) break;
  }
  return x;
}

double lower_quantile(double p) {  // Phi(x) = p, p <= 1/4
  double x = -std::sqrt(-2 * std::log(2 * p));
  for (int i = 0; i < kSteps; ++i) {
    double below = std::erfc(-x / kRoot2) / 2;
    double step = (std::log(p) - std::log(below)) * below / density(x);
    x += step;
    if (step <= -1e-15 * x) break;
  }
  return x;
}

void check_level(double level) {
  check(level > 0 && level < 1, "interval", "0 < level < 1", std::to_string(level), "0.95 is usual");
}

}  // namespace

double normal_quantile(double p) {
  check(p > 0 && p < 1, "normal_quantile", "0 < p < 1", std::to_string(p));
  if (p < 0.25) return lower_quantile(p);
  if (p > 0.75) return -lower_quantile(1 - p);  // 1 - p is exact here
  double q = 2 * p - 1;
  return std::copysign(central_quantile(std::abs(q)), q);
}

at::Tensor total_var(const Regression& p) { return p.aleatoric_var + p.epistemic_var; }

at::Tensor mutual_information(const Classes& p) {
  at::Tensor scale = at::full({}, std::log(static_cast<double>(p.probabilities.size(-1))), at::kDouble);
  return rounded_variance(p.predictive_entropy - p.expected_entropy, scale).var;
}

at::Tensor predicted_class(const Classes& p) { return p.probabilities.argmax(-1); }

at::Tensor mean(const Rate& rate) { return at::exp(rate.log_mean + 0.5 * rate.log_var); }

at::Tensor var(const Rate& rate) { return mean(rate).square() * at::expm1(rate.log_var); }

at::Tensor total_var(const Counts& p) { return mean(p.rate) + var(p.rate); }

Interval interval(const Regression& p, double level) {
  check_level(level);
  at::Tensor half = normal_quantile((1 + level) / 2) * total_var(p).sqrt();
  return {p.mean - half, p.mean + half};
}

Interval interval(const Counts& p, double level) {
  check_level(level);
  return {poisson_lognormal_quantile(p.rate, (1 - level) / 2),
          poisson_lognormal_quantile(p.rate, (1 + level) / 2)};
}

Interval interval(const Intensity& p, double level) {
  check_level(level);
  at::Tensor half = normal_quantile((1 + level) / 2) * p.rate.log_var.sqrt();
  return {at::exp(p.rate.log_mean - half), at::exp(p.rate.log_mean + half)};
}

Regression rescaled(const Regression& p, double shift, double scale) {
  check(scale > 0 && std::isfinite(scale), "rescaled", "a finite scale > 0", std::to_string(scale));
  check(std::isfinite(shift), "rescaled", "a finite shift", std::to_string(shift));
  return {shift + scale * p.mean, scale * scale * p.aleatoric_var, scale * scale * p.epistemic_var, p.zeroed};
}

Regression concatenated(const std::vector<Regression>& parts) {
  check(!parts.empty(), "concatenated", "at least one part", "none");
  std::vector<at::Tensor> mean, aleatoric_var, epistemic_var;
  int64_t zeroed = 0;
  for (const Regression& part : parts) {
    mean.push_back(part.mean);
    aleatoric_var.push_back(part.aleatoric_var);
    epistemic_var.push_back(part.epistemic_var);
    zeroed += part.zeroed;
  }
  return {at::cat(mean), at::cat(aleatoric_var), at::cat(epistemic_var), zeroed};
}

}  // namespace slimbayes
