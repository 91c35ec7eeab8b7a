#include "slimbayes/families/posterior_choice.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

namespace {

constexpr int kGridPoints = 25;

/// Returns kGridPoints numbers from low to high in equal ratios.
std::vector<double> log_grid(double low, double high) {
  std::vector<double> out;
  for (int i = 0; i < kGridPoints; ++i)
    out.push_back(low * std::pow(high / low, static_cast<double>(i) / (kGridPoints - 1)));
  return out;
}

/// Returns -log evidence / n of the residuals: y - f ~ N(0, sigma2 I + s^2 Phi T T^T Phi^T).
double evidence_score(const PosteriorSpectrum& s, double noise, double prior_var) {
  const at::Tensor h = 1 + s.eigenvalues * (prior_var / noise);
  const double fit = s.yy / noise - (s.response / h).sum().item<double>() * prior_var / (noise * noise);
  const double log_det = s.n * std::log(noise) + h.log().sum().item<double>();
  return 0.5 * ((fit + log_det) / s.n + std::log(2 * std::numbers::pi));
}

/// Returns the mean NLL of the validation residuals under N(0, sigma2 + epistemic variance).
double validation_score(const PosteriorSpectrum& s, double noise, double prior_var) {
  const at::Tensor shrunk = prior_var / (1 + s.eigenvalues * (prior_var / noise));
  at::Tensor var = noise + s.features.mv(shrunk), residual = s.residual;
  if (s.extra.defined()) var = var + prior_var * s.extra;
  if (s.mean_terms.defined()) residual = residual - s.mean_terms.mv(shrunk / noise);
  return 0.5 * ((2 * std::numbers::pi * var).log() + residual.square() / var).mean().item<double>();
}

}  // namespace

double unit_prior_sd(double sum, double n) { return sum > 0 && std::isfinite(sum) ? std::sqrt(n / sum) : 1; }

PosteriorSpectrum spectrum_of(const LinearStatistics& residuals, const at::Tensor& prior_factor,
                              const at::Tensor& features, const at::Tensor& residual, bool posterior_mean) {
  const at::Tensor& t = prior_factor;
  at::Tensor gram = residuals.S, c = residuals.c;
  if (t.defined()) gram = t.t().mm(gram).mm(t), c = t.t().mv(c);
  const auto [values, vectors] = spectrum(0.5 * (gram + gram.t()));
  const at::Tensor response = vectors.t().mv(c);
  PosteriorSpectrum out{values, response.square(), residuals.yy, static_cast<double>(residuals.n), {}, {},
                        {}};
  if (features.defined()) {
    const at::Tensor coordinates = (t.defined() ? features.mm(t) : features).mm(vectors);
    out.features = coordinates.square();
    out.residual = residual;
    if (posterior_mean) out.mean_terms = coordinates * response;
  }
  return out;
}

PosteriorChoice chosen(const PosteriorSpectrum& spectrum, double mse, const PosteriorChoiceOptions& options,
                       double target_sd) {
  const bool by_nll = options.select == "nll" && spectrum.features.defined();
  const double unit = target_sd * unit_prior_sd(spectrum.eigenvalues.sum().item<double>(), spectrum.n);
  const std::vector<double> noises =
      options.noise == "mse" ? std::vector<double>{mse} : log_grid(1e-3 * mse, 2 * mse);
  const std::vector<double> sds = options.prior == "select"  ? log_grid(1e-2 * unit, 10 * unit)
                                  : options.prior == "fixed" ? std::vector<double>{options.prior_sd}
                                                             : std::vector<double>{unit};
  PosteriorChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (double var : noises) {
    for (double sd : sds) {
      const double score =
          by_nll ? validation_score(spectrum, var, sd * sd) : evidence_score(spectrum, var, sd * sd);
      if (score < least) least = score, best = {var, sd};
    }
  }
  if (!std::isfinite(least))
    throw NumericalError("no noise and prior sd have a finite score; look for extreme inputs or targets");
  return best;
}

}  // namespace slimbayes
