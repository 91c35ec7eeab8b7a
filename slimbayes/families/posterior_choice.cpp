#include "slimbayes/families/posterior_choice.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

namespace {

constexpr double kLeastNoise = 1e-3, kMostNoise = 2;       // times the mean squared error
constexpr double kLeastPriorSd = 1e-2, kMostPriorSd = 10;  // times the one of prior "unit"
constexpr int64_t kRowsThatTell = 10;                      // validation rows whose errors are worth a note

/// A range of positive numbers that is searched on a logarithmic scale; with low = high there is no choice.
struct LogRange {
  double low, high;

  static constexpr int kSteps = 24;

  bool given() const { return low == high; }
  int points() const { return given() ? 1 : kSteps + 1; }
  double step() const { return std::log(high / low) / kSteps; }
  double point(int i) const {
    return i == kSteps ? high : low * std::pow(high / low, static_cast<double>(i) / kSteps);
  }

  /// Returns the number with the least score, and that score: the best of the points, refined by Brent's
  /// method between its neighbours. A score that is not finite is worse than every other.
  std::pair<double, double> least(const std::function<double(double)>& score) const {
    constexpr double kNoScore = 1e100;  // finite: Brent's method interpolates scores
    constexpr int kBits = 16;           // of the logarithm
    std::uintmax_t most = 100;          // scores that it computes
    const auto of = [&](double x) {
      const double value = score(x);
      return std::isfinite(value) ? value : kNoScore;
    };
    int best = 0;
    std::vector<double> scores;
    for (int i = 0; i < points(); ++i) {
      scores.push_back(of(point(i)));
      if (scores.back() < scores[static_cast<size_t>(best)]) best = i;
    }
    const std::pair found{point(best), scores[static_cast<size_t>(best)]};
    if (given()) return found;
    const auto number = [&](double log) { return std::clamp(std::exp(log), low, high); };
    const auto [log, value] = boost::math::tools::brent_find_minima(
        [&](double x) { return of(number(x)); }, std::log(point(std::max(best - 1, 0))),
        std::log(point(std::min(best + 1, kSteps))), kBits, most);
    return value < found.second ? std::pair(number(log), value) : found;
  }
};

/// Returns the mean squared residual of the validation rows; without any, that of the training rows.
double residual_mse(const PosteriorSpectrum& s) {
  return s.residual.defined() ? s.residual.square().mean().item<double>() : s.yy / s.n;
}

std::vector<std::string> notes_on(const PosteriorChoice& choice, const LogRange& noises,
                                  const LogRange& sds) {
  std::vector<std::string> notes;
  if (!noises.given() && choice.noise_var <= noises.low)
    notes.emplace_back(
        "the chosen noise variance is the least of its range, 0.001 times the validation MSE: the variance "
        "of the weights explains nearly all of the errors; compare with --noise mse");
  if (!noises.given() && choice.noise_var >= noises.high)
    notes.emplace_back(
        "the chosen noise variance is the largest of its range, 2 times the validation MSE: the rows that "
        "chose it have larger errors than the validation rows");
  if (!sds.given() && choice.prior_sd <= sds.low)
    notes.emplace_back(
        "the chosen prior sd is the least of its range, 0.01 times that of --prior unit: these rows show no "
        "error beyond the noise, and the sd hardly grows away from the data; compare with --prior unit");
  if (!sds.given() && choice.prior_sd >= sds.high)
    notes.emplace_back(
        "the chosen prior sd is the largest of its range, 10 times that of --prior unit: the network leaves "
        "over much that its features explain; train it longer");
  return notes;
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

void check_prior(const PosteriorChoiceOptions& options, const std::string& method) {
  check(options.prior == "fixed" || options.prior_sd == PosteriorChoiceOptions().prior_sd, method,
        "prior fixed for a prior_sd", fmt::format("{} with prior {}", options.prior_sd, options.prior),
        "add --prior fixed, or leave --prior-sd out");
}

std::string class_prior_note(double prior_sd, double unit) {
  if (prior_sd < kLeastPriorSd * unit * (1 + 1e-9))
    return "the chosen prior sd is the least of its range, 0.01 times that of --prior unit: the "
           "probabilities "
           "hardly change away from the data; compare with --prior unit";
  if (prior_sd > kMostPriorSd * unit * (1 - 1e-9))
    return "the chosen prior sd is the largest of its range, 10 times that of --prior unit: the network is "
           "too "
           "sure of its classes; compare with --prior unit";
  return "";
}

std::string raised_noise_fact(double var) {
  return fmt::format("noise sd of the encoded target raised to {:.3g} by cross-fitting, in the posterior too",
                     std::sqrt(var));
}

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
  check(mse > 0 && std::isfinite(mse), "chosen", "a finite mean squared error above 0",
        fmt::format("{}", mse));
  const bool by_nll = options.select == "nll" && spectrum.features.defined();
  const double unit = target_sd * unit_prior_sd(spectrum.eigenvalues.sum().item<double>(), spectrum.n);
  const double here = residual_mse(spectrum);
  const LogRange noises = options.noise == "mse"
                              ? LogRange{mse, mse}
                              : LogRange{kLeastNoise * mse, kMostNoise * std::max(mse, here)};
  const LogRange sds = options.prior == "select"  ? LogRange{kLeastPriorSd * unit, kMostPriorSd * unit}
                       : options.prior == "fixed" ? LogRange{options.prior_sd, options.prior_sd}
                                                  : LogRange{unit, unit};
  const auto score = [&](double var, double sd) {
    return by_nll ? validation_score(spectrum, var, sd * sd) : evidence_score(spectrum, var, sd * sd);
  };
  PosteriorChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < noises.points(); ++i) {
    for (int k = 0; k < sds.points(); ++k) {
      const double now = score(noises.point(i), sds.point(k));
      if (now < least) least = now, best = {noises.point(i), sds.point(k)};
    }
  }
  if (!std::isfinite(least))
    throw NumericalError("no noise and prior sd have a finite score; look for extreme inputs or targets");
  const auto improve = [&](double& chosen, const LogRange& range, const std::function<double(double)>& of) {
    if (range.given()) return;
    const auto [at, value] = range.least(of);
    if (value < least) least = value, chosen = at;
  };
  constexpr int kRounds = 8;
  constexpr double kGain = 1e-6;  // nats a row
  const int rounds = noises.given() || sds.given() ? 1 : kRounds;
  for (int round = 0; round < rounds; ++round) {
    const double before = least;
    improve(best.noise_var, noises, [&](double var) { return score(var, best.prior_sd); });
    improve(best.prior_sd, sds, [&](double sd) { return score(best.noise_var, sd); });
    if (before - least < kGain) break;
  }
  best.notes = notes_on(best, noises, sds);
  const bool held_out = spectrum.residual.defined();
  const auto rows = held_out ? spectrum.residual.size(0) : static_cast<int64_t>(spectrum.n);
  if (options.noise == "mse" && rows >= kRowsThatTell && here > kMostNoise * mse)
    best.notes.push_back(fmt::format(
        "the noise is the network's own validation MSE, but the {} {} rows here have a mean squared error "
        "{:.3g} times as large: intervals may be far too narrow; {} takes the noise from them",
        rows, held_out ? "validation" : "training", here / mse,
        held_out ? "--noise select" : "--noise select --select evidence"));
  return best;
}

}  // namespace slimbayes
