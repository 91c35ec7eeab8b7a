#pragma once

#include <string>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of a Gaussian likelihood's noise variance, which is a function of one trained scalar
/// (core/noise_variance.h).
struct NoiseOptions {
  double noise_start = 1e-2;
  double noise_floor = 1e-4;
  double noise_rate = 1e-2;
  std::string noise_form = "exp";

  bool operator==(const NoiseOptions&) const = default;
};

template <class V>
void describe(NoiseOptions& o, V& v) {
  v("noise_start", o.noise_start,
    "initial noise variance of the scaled target; the papers' is 0.01 (--preset paper)", Range{1e-12, 1e6},
    "slimbayes");
  v("noise_floor", o.noise_floor,
    "least noise variance of the scaled target; raise it where single rows ruin the NLL", Range{0, 1e6},
    "experiments/recipe");
  v("noise_rate", o.noise_rate, "AdamW's peak rate of the noise, in the unit that noise_form trains",
    Range{1e-8, 10}, "experiments/recipe");
  v("noise_form", o.noise_form,
    "what is trained for the noise variance: its logarithm (exp) or inverse softplus (softplus) above the "
    "floor, or itself (variance) or its root (sd), held at the floor",
    Choices{{"exp", "softplus", "variance", "sd"}}, "experiments/noise_reading");
}

/// Returns noise options with a start of 0.1, for objectives whose data term divides by the noise variance
/// alone (SVGP, VBLL). From a start of 1e-2 the first gradients of the noise would be so large that AdamW's
/// second moment keeps the noise almost constant for thousands of steps. The exact methods use this start for
/// the same reason: the first residuals are as large as the target, and the evidence divides them by the
/// noise.
inline NoiseOptions expected_noise() { return {0.1, 1e-4, 1e-2, "exp"}; }

/// Returns the values that `fit --tune` tries for the weights alpha and beta (N appendix B.2).
inline Grid paper_grid() { return {{0, 0.01, 0.1, 1}}; }

/// Returns the noise options of --preset paper (N appendix B) except noise_form: start 1e-2, floor 1e-6, and
/// the learning rate of all other parameters, 1e-3.
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
