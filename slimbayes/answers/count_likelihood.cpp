#include "slimbayes/answers/count_likelihood.h"

#include <ATen/ATen.h>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

void check_log_intensity(const Latent& f, const char* function) {
  check_shape(f.mean, {-1}, function, "mean");
  check_shape(f.epistemic_var, {f.mean.size(0)}, function, "epistemic_var");
}

LogNormalRate rate(const Latent& f) {
  return {f.mean.detach().to(at::kDouble), f.epistemic_var.detach().to(at::kDouble)};
}

}  // namespace

at::Tensor expected_intensity(const Latent& f) { return at::exp(f.mean + 0.5 * f.epistemic_var); }

at::Tensor PoissonLikelihood::expected_log_prob(const Latent& f, const at::Tensor& y) const {
  check_log_intensity(f, "expected_log_prob");
  check_shape(y, {f.mean.size(0)}, "expected_log_prob", "y");
  return y * f.mean - expected_intensity(f) - at::lgamma(y + 1);
}

at::Tensor PoissonLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  check_log_intensity(f, "log_predictive");
  return poisson_lognormal_log_prob(rate(f), y.detach().to(at::kDouble));
}

Predictive PoissonLikelihood::predictive(const Latent& f) const {
  check_log_intensity(f, "predictive");
  return Counts{rate(f), f.zeroed};
}

at::Tensor CoxLikelihood::expected_log_prob(const Latent& f, const at::Tensor&) const {
  check_log_intensity(f, "expected_log_prob");
  return f.mean;
}

at::Tensor CoxLikelihood::log_predictive(const Latent& f, const at::Tensor&) const {
  check_log_intensity(f, "log_predictive");
  return f.mean + 0.5 * f.epistemic_var;
}

Predictive CoxLikelihood::predictive(const Latent& f) const {
  check_log_intensity(f, "predictive");
  return Intensity{rate(f), f.zeroed};
}

}  // namespace slimbayes
