#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace slimbayes {

/// A Gaussian answer a row, float64. Intervals, scores and metrics are functions of it.
struct Regression {
  at::Tensor mean;           // [n] units of the target
  at::Tensor aleatoric_var;  // [n] variance of the noise
  at::Tensor epistemic_var;  // [n] variance of the function
  int64_t zeroed =
      0;  // rows whose epistemic variance rounding made negative (rounded_variance) and that has 0
};

/// What every method answers with; other likelihoods add their alternatives.
using Predictive = std::variant<Regression>;

/// aleatoric + epistemic. [n]
at::Tensor total_var(const Regression& p);

/// Central interval of the total predictive distribution.
struct Interval {
  at::Tensor lower, upper;  // [n] units of the target
};

/// Throws std::invalid_argument unless 0 < level < 1.
Interval interval(const Regression& p, double level);

/// The answer for the target shift + scale * y. Throws std::invalid_argument unless scale > 0.
Regression rescaled(const Regression& p, double shift, double scale);

/// Rows of several answers, one after the other.
Regression concatenated(const std::vector<Regression>& parts);

/// Standard normal quantile; relative error below 1e-12 for p > 1e-300. Throws std::invalid_argument unless 0
/// < p < 1.
double normal_quantile(double p);

/// Scores by name, larger is further from the training data: the OOD contract. [n] each, float64.
using Scores = std::map<std::string, at::Tensor>;

}  // namespace slimbayes
