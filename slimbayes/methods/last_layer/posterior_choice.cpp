#include "slimbayes/methods/last_layer/posterior_choice.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

namespace {

constexpr double kLeastNoise = 1e-3, kMostNoise = 2;       // times the mean squared error
constexpr double kLeastPriorSd = 1e-2, kMostPriorSd = 10;  // times the prior sd of prior "unit"
constexpr int64_t kRowsThatTell = 10;                      // fewest rows for the note of larger_errors()

/// Returns the mean squared residual of the validation rows; if there are none, of the training rows.
double residual_mse(const PosteriorSpectrum& s) {
  return s.residual.defined() ? weighted_mean(s.residual.square(), s.weight) : s.yy / s.n;
}

/// Returns the range of noise variances to search. If the noise is not to be chosen, the range holds only the
/// network's mse.
LogRange noise_range(const PosteriorSpectrum& s, const NetworkNoise& network, bool chosen) {
  const double mse = network.mse;
  if (!chosen) return {mse, mse};
  return {network.unseen ? kLeastNoise * mse : mse, kMostNoise * std::max(mse, residual_mse(s))};
}

std::vector<std::string> notes_on(const PosteriorChoice& choice, const LogRange& noises, const LogRange& sds,
                                  bool unseen) {
  std::vector<std::string> notes;
  if (!noises.given() && choice.noise_var <= noises.low)
    notes.emplace_back(
        unseen ? "the chosen noise variance is the least of its range, 0.001 times the validation MSE: the "
                 "variance of the weights explains nearly all of the errors; compare with `.noise=mse`"
               : "the noise is that of the network's own validation: the validation rows here err less, but "
                 "some of them may have trained it");
  if (!noises.given() && choice.noise_var >= noises.high)
    notes.emplace_back(
        "the chosen noise variance is the largest of its range, 2 times the validation MSE: the rows that "
        "chose it have larger errors than the validation rows");
  if (!sds.given() && choice.prior_sd <= sds.low)
    notes.emplace_back(
        "the chosen prior sd is the least of its range, 0.01 times that of `.prior=unit`: these rows show no "
        "error beyond the noise, and the sd hardly grows away from the data; compare with `.prior=unit`");
  if (!sds.given() && choice.prior_sd >= sds.high)
    notes.emplace_back(
        "the chosen prior sd is the largest of its range, 10 times that of `.prior=unit`: the network leaves "
        "over much that its features explain; train it longer");
  return notes;
}

/// Returns a note if the mean squared error on these rows is more than twice the network's mse, which is
/// taken as the noise; else "".
std::string larger_errors(const PosteriorSpectrum& s, double mse) {
  const bool held_out = s.residual.defined();
  const auto rows = held_out ? s.residual.size(0) : std::llround(s.n);
  const double here = residual_mse(s);
  if (rows < kRowsThatTell || !(here > kMostNoise * mse)) return "";
  return fmt::format(
      "the noise is the network's own validation MSE, but the {} {} rows here have a mean squared error "
      "{:.3g} "
      "times as large: intervals may be far too narrow; {}",
      rows, held_out ? "validation" : "training", here / mse,
      held_out ? "`.noise=select` `.select=nll` takes the noise from them"
               : "give `.valid=FILE`, to take the noise from its rows");
}

/// Returns the mean NLL of the validation rows under N(f(x), sigma2 + epistemic variance); if the spectrum
/// has mean_terms, the mean is f(x) plus the posterior mean of the residual.
double validation_score(const PosteriorSpectrum& s, double noise, double prior_var) {
  const at::Tensor shrunk = prior_var / (1 + s.eigenvalues * (prior_var / noise));
  at::Tensor var = noise + s.features.mv(shrunk), residual = s.residual;
  if (s.extra.defined()) var = var + prior_var * s.extra;
  if (s.mean_terms.defined()) residual = residual - s.mean_terms.mv(shrunk / noise);
  return 0.5 * weighted_mean((2 * std::numbers::pi * var).log() + residual.square() / var, s.weight);
}

}  // namespace

void check_prior(const PosteriorChoiceOptions& options, const std::string& method) {
  if (options.prior != "fixed" && options.prior_sd != PosteriorChoiceOptions().prior_sd)
    refuse(method, "prior fixed for a prior_sd",
           fmt::format("{} with prior {}", options.prior_sd, options.prior),
           "add `.prior=fixed`, or leave `.prior_sd` out");
}

LogRange prior_range(double unit) { return {kLeastPriorSd * unit, kMostPriorSd * unit}; }

std::string class_prior_note(double prior_sd, double unit) {
  if (prior_sd < kLeastPriorSd * unit * (1 + 1e-9))
    return "the chosen prior sd is the least of its range, 0.01 times that of `.prior=unit`: the "
           "probabilities "
           "hardly change away from the data; compare with `.prior=unit`";
  if (prior_sd > kMostPriorSd * unit * (1 - 1e-9))
    return "the chosen prior sd is the largest of its range, 10 times that of `.prior=unit`: the network is "
           "too sure of its classes; compare with `.prior=unit`";
  return "";
}

std::string raised_noise_fact(double var) {
  return fmt::format("noise sd of the scaled target raised to {:.3g} by cross-fitting, in the posterior too",
                     std::sqrt(var));
}

double unit_prior_sd(double sum, double n) { return sum > 0 && std::isfinite(sum) ? std::sqrt(n / sum) : 1; }

PosteriorSpectrum spectrum_of(const LinearStatistics& residuals, const at::Tensor& prior_factor,
                              const at::Tensor& weights, const at::Tensor& features,
                              const at::Tensor& residual, bool posterior_mean) {
  const at::Tensor& t = prior_factor;
  at::Tensor gram = residuals.S, c = residuals.c, whitened = weights.to(at::kDouble);
  if (t.defined()) {
    gram = t.t().mm(gram).mm(t), c = t.t().mv(c);
    whitened = solve_lower(t, whitened.unsqueeze(1)).squeeze(1);
  }
  const auto [values, vectors] = spectrum(0.5 * (gram + gram.t()));
  PosteriorSpectrum out{values, residuals.yy, residuals.n, whitened.square().sum().item<double>()};
  if (features.defined()) {
    const at::Tensor coordinates = (t.defined() ? features.mm(t) : features).mm(vectors);
    out.features = coordinates.square();
    out.residual = residual;
    if (posterior_mean) out.mean_terms = coordinates * vectors.t().mv(c);
  }
  return out;
}

double laplace_evidence(const PosteriorSpectrum& s, double noise, double prior_sd) {
  const double prior_var = prior_sd * prior_sd;
  const double fit = s.yy / noise + s.n * std::log(2 * std::numbers::pi * noise);
  const double log_det = at::log1p(s.eigenvalues * (prior_var / noise)).sum().item<double>();
  return -0.5 * (fit + s.weights_squared / prior_var + log_det) / s.n;
}

PosteriorChoice chosen(const PosteriorSpectrum& spectrum, const NetworkNoise& network,
                       const PosteriorChoiceOptions& options, double unit) {
  if (!(network.mse > 0 && std::isfinite(network.mse)))
    refuse("chosen", "a finite mean squared error above 0", fmt::format("{}", network.mse));
  const bool by_nll = options.select == "nll" && spectrum.features.defined();
  const LogRange noises = noise_range(spectrum, network, by_nll && options.noise == "select");
  const LogRange sds = options.prior == "select"  ? prior_range(unit)
                       : options.prior == "fixed" ? LogRange{options.prior_sd, options.prior_sd}
                                                  : LogRange{unit, unit};
  const auto score = [&](double var, double sd) {
    return by_nll ? validation_score(spectrum, var, sd * sd) : -laplace_evidence(spectrum, var, sd);
  };
  PosteriorChoice best;
  double lowest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < noises.points(); ++i) {
    for (int k = 0; k < sds.points(); ++k) {
      const double now = score(noises.point(i), sds.point(k));
      if (now < lowest) lowest = now, best = {noises.point(i), sds.point(k)};
    }
  }
  if (!std::isfinite(lowest))
    throw NumericalError("no noise and prior sd have a finite score; look for extreme inputs or targets");
  const auto improve = [&](double& value, const LogRange& range, const std::function<double(double)>& of) {
    if (range.given()) return;
    const LeastScore found = least_score(range, of);
    if (found.score < lowest) lowest = found.score, value = found.at;
  };
  constexpr int kRounds = 8;
  constexpr double kGain = 1e-6;  // least gain of a further round, in nats per row
  const int rounds = noises.given() || sds.given() ? 1 : kRounds;
  for (int round = 0; round < rounds; ++round) {
    const double before = lowest;
    improve(best.noise_var, noises, [&](double var) { return score(var, best.prior_sd); });
    improve(best.prior_sd, sds, [&](double sd) { return score(best.noise_var, sd); });
    if (before - lowest < kGain) break;
  }
  best.notes = notes_on(best, noises, sds, network.unseen);
  if (std::string note = noises.given() ? larger_errors(spectrum, network.mse) : ""; !note.empty())
    best.notes.push_back(std::move(note));
  return best;
}

}  // namespace slimbayes
