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
  int64_t zeroed = 0;        // rows whose epistemic variance rounding made negative and that have 0
};

/// Probabilities a row, averaged over the belief, and the two entropies whose difference is what the belief
/// leaves open. float64, nats.
struct Classes {
  at::Tensor probabilities;       // [n, C], rows sum to 1
  at::Tensor predictive_entropy;  // [n] entropy of the averaged probabilities
  at::Tensor expected_entropy;    // [n] average entropy of the probabilities
  int64_t zeroed = 0;             // as in Regression
};

/// A log-normal belief over a rate, float64.
struct Rate {
  at::Tensor log_mean;  // [n] mean of the log rate
  at::Tensor log_var;   // [n] variance of the log rate, >= 0
};

/// y ~ Poisson(rate).
struct Counts {
  Rate rate;
  int64_t zeroed = 0;  // as in Regression
};

/// Events per unit volume of a Cox process at n places.
struct Intensity {
  Rate rate;
  int64_t zeroed = 0;  // as in Regression
};

/// What every method answers with.
using Predictive = std::variant<Regression, Classes, Counts, Intensity>;

/// aleatoric + epistemic. [n]
at::Tensor total_var(const Regression& p);

/// Predictive minus expected entropy: the mutual information of class and function. [n] >= 0, nats. Throws
/// NumericalError when it is below 0 by more than rounding.
at::Tensor mutual_information(const Classes& p);

/// The most probable class, the first of equals. [n] int64
at::Tensor predicted_class(const Classes& p);

/// exp(log_mean + log_var / 2). [n]
at::Tensor mean(const Rate& rate);

/// mean^2 (exp(log_var) - 1): the epistemic variance of counts and intensities. [n]
at::Tensor var(const Rate& rate);

/// mean + var of the rate, by the law of total variance: a Poisson count adds its rate. [n]
at::Tensor total_var(const Counts& p);

/// Central interval of the total predictive distribution.
struct Interval {
  at::Tensor lower, upper;  // [n] units of the target
};

/// mean -+ z sd of the Gaussian answer; a calibrated model's own interval is Model::interval. Throws
/// std::invalid_argument unless 0 < level < 1.
Interval gaussian_interval(const Regression& p, double level);

/// Throw std::invalid_argument unless 0 < level < 1. The whole numbers at which the cdf of the
/// Poisson-lognormal count first reaches (1 -+ level) / 2.
Interval interval(const Counts& p, double level);

/// Log-normal quantiles of the rate itself.
Interval interval(const Intensity& p, double level);

/// The answer for the target shift + scale * y. Throws std::invalid_argument unless scale > 0.
Regression rescaled(const Regression& p, double shift, double scale);

/// Standard normal quantile; relative error below 1e-12 for p > 1e-300. Throws std::invalid_argument unless 0
/// < p < 1.
double normal_quantile(double p);

/// Scores by name, larger is further from the training data: the OOD contract. [n] each, float64.
using Scores = std::map<std::string, at::Tensor>;

}  // namespace slimbayes
