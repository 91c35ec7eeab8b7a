#pragma once

#include <string>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of the noise variance of a Gaussian likelihood. The variance is a function of one trained scalar
/// (core/noise_variance.h).
struct NoiseOptions {
  double noise_start = 1e-2;
  double noise_floor = 1e-4;
  double noise_rate = 1e-2;
  std::string noise_form = "exp";

  bool operator==(const NoiseOptions&) const = default;
};

/// Describes the noise options of a method that trains the logarithm of the noise variance, and so has no
/// noise_form. `rate` is the help text of noise_rate.
template <class V>
void describe_log_noise(NoiseOptions& o, V& v,
                        const char* rate = "AdamW's peak rate of the logarithm of the noise variance") {
  v("noise_start", o.noise_start,
    "initial noise variance of the scaled target; the papers' is 0.01 (--preset paper)", Range{1e-12, 1e6},
    "slimbayes");
  v("noise_floor", o.noise_floor,
    "least noise variance of the scaled target; raise it if single rows ruin the NLL", Range{0, 1e6},
    "experiments/recipe");
  v("noise_rate", o.noise_rate, rate, Range{1e-8, 10}, "experiments/recipe");
}

template <class V>
void describe(NoiseOptions& o, V& v) {
  describe_log_noise(o, v, "AdamW's peak rate of the noise, in the unit that noise_form trains");
  v("noise_form", o.noise_form,
    "what the optimiser trains. exp: the logarithm of the noise variance above the floor; softplus: its "
    "inverse softplus above the floor; variance: the variance itself; sd: its root. The last two are clipped "
    "at the floor",
    Choices{{"exp", "softplus", "variance", "sd"}}, "experiments/noise_reading");
}

/// Returns noise options with a start of 0.1. Use them for objectives whose data term divides by the noise
/// variance alone (SVGP, VBLL): from a start of 1e-2 the first gradients of the noise would be so large that
/// AdamW's second moment keeps the noise almost constant for thousands of steps. The exact methods take them
/// for the same reason: the first residuals are as large as the target, and the evidence divides them by the
/// noise variance.
inline NoiseOptions expected_noise() { return {0.1, 1e-4, 1e-2, "exp"}; }

/// Returns the values that `fit --tune` tries for the weights alpha and beta (N appendix B.2).
inline Grid paper_grid() { return {{0, 0.01, 0.1, 1}}; }

/// Returns the noise options of --preset paper (N appendix B) without noise_form: start 1e-2, floor 1e-6, and
/// 1e-3, the learning rate of all other parameters.
inline nlohmann::json paper_noise_values() {
  return {{"noise_start", 1e-2}, {"noise_floor", 1e-6}, {"noise_rate", 1e-3}};
}

/// Returns paper_noise_values() with noise_form "sd". N does not say which function of the noise variance is
/// trained. Among six candidates, "sd" at N's learning rate comes nearest to the NLLs that N reports for VBLL
/// and SV-DKL (experiments/noise_reading).
inline nlohmann::json paper_noise() {
  nlohmann::json noise = paper_noise_values();
  noise["noise_form"] = "sd";
  return noise;
}

}  // namespace slimbayes
