#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace slimbayes {

/// The predictive of a regression: one Gaussian per row, float64. Intervals, scores and metrics are computed
/// from it.
struct Regression {
  at::Tensor mean;           // [n] in units of the target
  at::Tensor aleatoric_var;  // [n] variance of the noise, in squared units of the target
  at::Tensor epistemic_var;  // [n] variance of the latent function, in squared units of the target
  int64_t zeroed = 0;        // rows whose epistemic variance rounding made negative; it was set to 0
};

/// The predictive of a classification: class probabilities per row, averaged over the posterior, and two
/// entropies. Their difference is the epistemic part of the uncertainty (see mutual_information). Float64,
/// nats.
struct Classes {
  at::Tensor probabilities;       // [n, C], each row sums to 1
  at::Tensor predictive_entropy;  // [n] entropy of the averaged probabilities
  at::Tensor expected_entropy;    // [n] posterior average of the entropy of the probabilities
  int64_t zeroed = 0;             // negative variances set to 0, as Regression::zeroed
};

/// A log-normal distribution of a rate, per row: the posterior of exp(f) for a Gaussian f. Float64.
struct Rate {
  at::Tensor log_mean;  // [n] mean of the log rate
  at::Tensor log_var;   // [n] variance of the log rate, >= 0
};

/// The predictive of a count: y ~ Poisson(rate), with a log-normal rate.
struct Counts {
  Rate rate;
  int64_t zeroed = 0;  // negative variances set to 0, as Regression::zeroed
};

/// The predictive of events: the intensity of a Cox process (events per unit volume) at n places.
struct Intensity {
  Rate rate;
  int64_t zeroed = 0;  // negative variances set to 0, as Regression::zeroed
};

/// The answer of every method: one alternative per task.
using Predictive = std::variant<Regression, Classes, Counts, Intensity>;

/// Returns the aleatoric plus the epistemic variance. [n]
at::Tensor total_var(const Regression& p);

/// Returns the mutual information of class and latent function: predictive minus expected entropy, the
/// epistemic part of the uncertainty. [n] >= 0, nats; NaN for a row whose entropies are NaN. Throws
/// NumericalError if it is below 0 by more than rounding.
at::Tensor mutual_information(const Classes& p);

/// Returns the most probable class of each row; among equals, the first. [n] int64
at::Tensor predicted_class(const Classes& p);

/// Returns the mean of the rate, exp(log_mean + log_var / 2). [n]
at::Tensor mean(const Rate& rate);

/// Returns the variance of the rate, mean^2 (exp(log_var) - 1): the epistemic variance of counts and
/// intensities. [n]
at::Tensor var(const Rate& rate);

/// Returns the variance of the count, mean + var of the rate: by the law of total variance, Poisson noise
/// adds the mean rate. [n]
at::Tensor total_var(const Counts& p);

/// A central predictive interval per row.
struct Interval {
  at::Tensor lower, upper;  // [n] in units of the target, or of the intensity
};

/// Returns mean -+ z sd with the total sd of the Gaussian answer. For a calibrated model use Model::interval
/// instead. Throws std::invalid_argument unless 0 < level < 1.
Interval gaussian_interval(const Regression& p, double level);

/// Returns the interval of the Poisson-lognormal count: its ends are the whole numbers at which the cdf first
/// reaches (1 -+ level) / 2. Throws std::invalid_argument unless 0 < level < 1.
Interval interval(const Counts& p, double level);

/// Returns the interval of the intensity between its log-normal quantiles (1 -+ level) / 2. Throws
/// std::invalid_argument unless 0 < level < 1.
Interval interval(const Intensity& p, double level);

/// Converts the predictive of y into the predictive of shift + scale * y. Throws std::invalid_argument unless
/// `scale` is finite and > 0 and `shift` is finite.
Regression rescaled(const Regression& p, double shift, double scale);

/// Returns the standard normal quantile at p; the relative error is below 1e-12 for p > 1e-300. Throws
/// std::invalid_argument unless 0 < p < 1.
double normal_quantile(double p);

/// Scores for out-of-distribution detection, by name: [n] each, float64. A larger score means farther from
/// the training data.
using Scores = std::map<std::string, at::Tensor>;

}  // namespace slimbayes
