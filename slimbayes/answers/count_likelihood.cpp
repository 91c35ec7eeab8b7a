#include "slimbayes/answers/count_likelihood.h"

#include <ATen/ATen.h>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/quadrature.h"

namespace slimbayes {

namespace {

void check_log_intensity(const Latent& f, const char* function) {
  check_shape(f.mean, {-1}, function, "mean");
  check_shape(f.epistemic_var, {f.mean.size(0)}, function, "epistemic_var");
}

LogNormalRate rate(const Latent& f) {
  return {f.mean.detach().to(at::kDouble), f.epistemic_var.detach().to(at::kDouble)};
}

constexpr int64_t kCountNodes = 32;  // of the quadrature over the log rate in training

Latent in_doubles(const Latent& f) { return {f.mean.to(at::kDouble), f.epistemic_var.to(at::kDouble)}; }

at::Tensor softplus_of(const at::Tensor& x) { return x.clamp_min(0) + at::log1p(at::exp(-x.abs())); }

/// Returns E_f[g(f)] of each row by Gauss-Hermite quadrature, g elementwise. Float64. [b]
template <class G>
at::Tensor mean_over_nodes(const Latent& f, G g) {
  static const Quadrature rule = gauss_hermite(kCountNodes);
  const auto [mean, var, zeroed] = in_doubles(f);
  // At a variance of 0 the derivative of the root would be infinite; a tiny variance leaves f unchanged.
  const at::Tensor sd = var.clamp_min(1e-300).sqrt();
  const at::Tensor at = mean.unsqueeze(1) + sd.unsqueeze(1) * rule.nodes.to(mean.device());
  return at::mv(g(at), rule.weights.to(mean.device()));
}

/// Returns a number of the likelihood for each row. [b] float64
at::Tensor same_for_rows(const at::Tensor& number, const Latent& f) {
  return at::full({f.mean.size(0)}, on_cpu(number).detach().item<double>(), at::kDouble);
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

// The data terms are computed in float64 whatever f is: with a small dispersion the logs of the gamma
// functions are large and cancel.

at::Tensor NegativeBinomialLikelihood::expected_log_prob(const Latent& f, const at::Tensor& y) const {
  check_log_intensity(f, "expected_log_prob");
  check_shape(y, {f.mean.size(0)}, "expected_log_prob", "y");
  const at::Tensor count = y.to(at::kDouble), r = dispersion.reciprocal();
  const at::Tensor spread = mean_over_nodes(
      f, [&](const at::Tensor& log_rate) { return softplus_of(log_rate + dispersion.log()); });
  const at::Tensor own = at::lgamma(count + r) - at::lgamma(r) - at::lgamma(count + 1);
  return own + count * (f.mean.to(at::kDouble) + dispersion.log()) - (count + r) * spread;
}

at::Tensor NegativeBinomialLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  return count_log_prob(std::get<Counts>(predictive(f)), on_cpu(y).detach().to(at::kDouble));
}

Predictive NegativeBinomialLikelihood::predictive(const Latent& f) const {
  check_log_intensity(f, "predictive");
  Counts out{rate(f), f.zeroed};
  out.dispersion = same_for_rows(dispersion, f);
  return out;
}

at::Tensor ZeroInflatedPoissonLikelihood::expected_log_prob(const Latent& f, const at::Tensor& y) const {
  check_log_intensity(f, "expected_log_prob");
  check_shape(y, {f.mean.size(0)}, "expected_log_prob", "y");
  const at::Tensor count = y.to(at::kDouble), mean = f.mean.to(at::kDouble);
  const at::Tensor log_rest = at::log1p(-zero_share);
  const at::Tensor of_zero = mean_over_nodes(f, [&](const at::Tensor& log_rate) {
    return at::logaddexp(zero_share.log(), log_rest - at::exp(log_rate));
  });
  const at::Tensor of_more =
      log_rest + count * mean - expected_intensity(in_doubles(f)) - at::lgamma(count + 1);
  return at::where(count == 0, of_zero, of_more);
}

at::Tensor ZeroInflatedPoissonLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  return count_log_prob(std::get<Counts>(predictive(f)), on_cpu(y).detach().to(at::kDouble));
}

Predictive ZeroInflatedPoissonLikelihood::predictive(const Latent& f) const {
  check_log_intensity(f, "predictive");
  Counts out{rate(f), f.zeroed};
  out.zero_share = same_for_rows(zero_share, f);
  return out;
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
