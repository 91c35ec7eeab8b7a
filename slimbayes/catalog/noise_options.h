#pragma once

#include <string>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of the noise variance of a Gaussian likelihood. Training fits one scalar, and noise_form chooses
/// the function that turns it into the variance (core/noise_variance.h).
struct NoiseOptions {
  double noise_start = 1e-2;
  double noise_floor = 1e-4;
  double noise_rate = 1e-2;
  std::string noise_form = "exp";

  bool operator==(const NoiseOptions&) const = default;
};

/// Describes the noise options except noise_form, for a method that always trains the logarithm of the noise
/// variance. `rate` is the help text of the option noise_rate.
template <class V>
void describe_log_noise(NoiseOptions& o, V& v,
                        const char* rate = "AdamW's peak rate of the logarithm of the noise variance") {
  v("noise_start", o.noise_start,
    "initial noise variance of the scaled target; 0.01 in the papers on deep basis kernels",
    Range{1e-12, 1e6}, "slimbayes");
  v("noise_floor", o.noise_floor,
    "least noise variance of the scaled target; raise it if single rows ruin the NLL", Range{0, 1e6},
    "experiments/recipe");
  v("noise_rate", o.noise_rate, rate, Range{1e-8, 10}, "experiments/recipe");
}

template <class V>
void describe(NoiseOptions& o, V& v) {
  describe_log_noise(
      o, v,
      "AdamW's peak rate of the noise, in the unit that noise_form trains, and with `.likelihood=student` of "
      "log(degrees of freedom - 2.05), with negative-binomial of the log dispersion, with "
      "zero-inflated-poisson of the logit of the share of zeros");
  v("noise_form", o.noise_form,
    "what the optimiser trains. exp: the logarithm of the noise variance above the floor; softplus: its "
    "inverse softplus above the floor; variance: the variance itself; sd: its root. The last two are clipped "
    "at the floor",
    Choices{{"exp", "softplus", "variance", "sd"}}, "experiments/noise_reading");
}

/// Returns noise options whose initial variance is 0.1 instead of 1e-2. Use them for objectives whose data
/// term divides by the noise variance alone, such as the evidence lower bounds of SVGP and VBLL. From a start
/// of 1e-2 the first gradients of the noise would be so large that AdamW's second moment would keep the noise
/// almost constant for thousands of steps. The methods that train on the exact evidence (dbk-exact,
/// dkl-exact) have the same problem: their first residuals are as large as the target, and the evidence
/// divides the squared residuals by the noise variance.
inline NoiseOptions expected_noise() { return {0.1, 1e-4, 1e-2, "exp"}; }

/// Returns the values that `fit --tune` tries for the loss weights alpha and beta, as in the deep basis
/// kernel paper (N appendix B.2).
inline Grid paper_grid() { return {{0, 0.01, 0.1, 1}}; }

/// Returns the noise options of --preset paper except noise_form, from the deep basis kernel paper (N
/// appendix B): initial variance 1e-2, floor 1e-6, and the learning rate 1e-3 of all other parameters.
inline nlohmann::json paper_noise_values() {
  return {{"noise_start", 1e-2}, {"noise_floor", 1e-6}, {"noise_rate", 1e-3}};
}

/// Returns all noise options of --preset paper: paper_noise_values() and noise_form "sd". The deep basis
/// kernel paper (N) does not say which function of the noise variance it trains. Among six functions that
/// were tried, "sd" at N's learning rate comes nearest to the NLLs that N reports for VBLL and SV-DKL
/// (experiments/noise_reading).
inline nlohmann::json paper_noise() {
  nlohmann::json noise = paper_noise_values();
  noise["noise_form"] = "sd";
  return noise;
}

}  // namespace slimbayes
