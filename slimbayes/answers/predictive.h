#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/density/warp.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// A component of the predictive density of a regression (answers/density.h). The warped target t of each row
/// has a Gaussian or Student-t distribution, and the target is y = shift + scale t or another increasing
/// function of t (density/warp.h): with TargetWarp::log y = shift + scale exp(t), which is above `shift`.
/// Float64.
struct DensityComponent {
  double weight = 1;         // > 0
  at::Tensor mean;           // [n] of t
  at::Tensor aleatoric_var;  // [n] of t; the sum of both variances is above 0
  at::Tensor epistemic_var;  // [n] of t
  /// Degrees of freedom of a Student-t distribution with this mean and variance, > 2; infinite: a Gaussian.
  /// TargetWarp::log and log_below need a Gaussian, because the exponential of a Student-t variable has no
  /// mean.
  double dof = std::numeric_limits<double>::infinity();
  TargetWarp warp = TargetWarp::none;
  double shift = 0, scale = 1;
  /// tempered() keeps the variance of the logarithm at or below this value, above which quantiles may
  /// overflow. Only with TargetWarp::log.
  double most_var = std::numeric_limits<double>::infinity();
  /// Bounds of the variance of t from which the target's mean and variances are computed, since these grow
  /// exponentially with it; the density keeps the whole variance. `most` is the largest t in training. The
  /// variance used is at most max(most - mean, spare_var). With most - mean, the root mean square of exp(t),
  /// which is exp(mean + variance), equals the largest target of training. Each row keeps at least
  /// spare_var > 0 of its variance. Only with TargetWarp::log.
  double most = std::numeric_limits<double>::infinity(), spare_var = 0;
};

/// The predictive of a regression: the distribution of the target of each row. Float64.
struct Regression {
  at::Tensor mean;           // [n] in units of the target
  at::Tensor aleatoric_var;  // [n] variance of the noise, in squared units of the target
  at::Tensor epistemic_var;  // [n] variance of the latent function, in squared units of the target
  int64_t zeroed = 0;        // rows whose epistemic variance rounding made negative; it was set to 0
  /// The components of the density. The mean and the two variances above are those of their mixture. Empty: a
  /// Gaussian with this mean and the sum of the two variances.
  std::vector<DensityComponent> density = {};
  /// The target is never below this value by nature. The ends of intervals are raised to it.
  double least = -std::numeric_limits<double>::infinity();
  /// Nor is it ever above this value, to which the ends of intervals are lowered.
  double most = std::numeric_limits<double>::infinity();
};

/// The predictive of a classification: the class probabilities of each row, averaged over the posterior, and
/// two entropies. The difference of the entropies is the epistemic part of the uncertainty
/// (mutual_information). Float64, entropies in nats.
struct Classes {
  at::Tensor probabilities;       // [n, C], each row sums to 1
  at::Tensor predictive_entropy;  // [n] entropy of the averaged probabilities
  at::Tensor expected_entropy;    // [n] entropy of the probabilities, averaged over the posterior
  int64_t zeroed = 0;             // variances of latent functions that rounding made negative; set to 0
};

/// The distribution of a rate for each row: log-normal, because the rate is exp(f) for a latent function f
/// with a Gaussian posterior. Float64.
struct LogNormalRate {
  at::Tensor log_mean;  // [n] mean of the log rate
  at::Tensor log_var;   // [n] variance of the log rate, >= 0
};

/// The predictive of a count in each row: y ~ Poisson(rate), where the rate itself is uncertain (log-normal).
/// With a dispersion or a share of zeros y varies more: it is 0 with the probability zero_share, else
/// negative binomial with the mean rate and the variance rate + dispersion rate^2 (density/count_noise.h).
struct Counts {
  LogNormalRate rate;
  int64_t zeroed = 0;          // variances of latent functions that rounding made negative; set to 0
  at::Tensor dispersion = {};  // [n] >= 0; undefined: 0
  at::Tensor zero_share = {};  // [n] >= 0 and below 1; undefined: 0

  bool is_poisson() const { return !dispersion.defined() && !zero_share.defined(); }
};

/// The predictive of events (points of a Cox process): the distribution of the intensity, the expected number
/// of events per unit volume, at n places.
struct Intensity {
  LogNormalRate rate;
  int64_t zeroed = 0;  // variances of latent functions that rounding made negative; set to 0
};

/// What every method returns for n rows: the predictive of the task that it was fitted to.
using Predictive = std::variant<Regression, Classes, Counts, Intensity>;

/// Returns the total variance of each row, the aleatoric plus the epistemic variance. [n]
SLIMBAYES_EXPORT at::Tensor total_var(const Regression& p);

/// Returns `y` without values below p.least and above p.most, each set to that value. Any shape.
SLIMBAYES_EXPORT at::Tensor within(const Regression& p, const at::Tensor& y);

/// Returns the median of each row, from p.least to p.most like the ends of intervals. [n]
SLIMBAYES_EXPORT at::Tensor median(const Regression& p);

/// Returns the mutual information of class and latent function for each row:
/// predictive_entropy - expected_entropy. It measures the epistemic uncertainty. >= 0, in nats; NaN for a row
/// whose entropies are NaN. Throws NumericalError if a difference is below 0 by more than rounding. [n]
SLIMBAYES_EXPORT at::Tensor mutual_information(const Classes& p);

/// Returns the number of the most probable class of each row; if several are equally probable, the first. [n]
/// int64
SLIMBAYES_EXPORT at::Tensor predicted_class(const Classes& p);

/// Returns the mean of the rate of each row, exp(log_mean + log_var / 2). [n]
SLIMBAYES_EXPORT at::Tensor mean(const LogNormalRate& rate);

/// Returns the variance of the rate of each row, mean^2 (exp(log_var) - 1). It is the epistemic variance of a
/// count or an intensity. [n]
SLIMBAYES_EXPORT at::Tensor var(const LogNormalRate& rate);

/// Returns the mean of the count of each row: that of the rate times 1 - zero_share. [n]
SLIMBAYES_EXPORT at::Tensor mean(const Counts& p);

/// Returns the epistemic variance of the count of each row, Var(E[y | rate]): the variance of the rate times
/// (1 - zero_share)^2. [n]
SLIMBAYES_EXPORT at::Tensor epistemic_var(const Counts& p);

/// Returns the aleatoric variance of the count of each row, E[Var(y | rate)]. With the mean M of the rate,
/// the mean S of its square and z = zero_share it is (1 - z) (M + (dispersion + z) S); of a Poisson count M.
/// [n]
SLIMBAYES_EXPORT at::Tensor aleatoric_var(const Counts& p);

/// Returns the total variance of the count of each row: aleatoric plus epistemic (law of total variance); of
/// a Poisson count the mean plus the variance of the rate. [n]
SLIMBAYES_EXPORT at::Tensor total_var(const Counts& p);

/// A central interval for each row: it leaves equal probability below and above.
struct Interval {
  at::Tensor lower, upper;  // [n] in the units of the target or the intensity
};

/// Returns the central interval of each row at this level, between the quantiles (answers/density.h) of (1 -
/// level) / 2 and (1 + level) / 2; for a Gaussian mean -+ z sd with the total sd and the normal quantile z at
/// (1 + level) / 2. For a model with conformal calibration use Model::interval instead. Throws
/// std::invalid_argument unless 0 < level <= kMostLevel.
SLIMBAYES_EXPORT Interval interval(const Regression& p, double level);

/// Returns the central interval of the count of each row. Its ends are the least whole numbers at which the
/// cdf of the count reaches (1 - level) / 2 and (1 + level) / 2. Throws
/// std::invalid_argument unless 0 < level <= kMostLevel.
SLIMBAYES_EXPORT Interval interval(const Counts& p, double level);

/// Returns the central interval of the intensity at each place, between its log-normal quantiles at
/// (1 - level) / 2 and (1 + level) / 2. Throws std::invalid_argument unless 0 < level <= kMostLevel.
SLIMBAYES_EXPORT Interval interval(const Intensity& p, double level);

/// Returns the predictive of shift + scale * y, given the predictive `p` of y. Throws std::invalid_argument
/// unless `scale` is finite and > 0 and `shift` is finite.
SLIMBAYES_EXPORT Regression rescaled(const Regression& p, double shift, double scale);

/// Scores for out-of-distribution detection: maps the name of a score to its value for each row, [n] float64.
/// A larger score means farther from the training data.
using Scores = std::map<std::string, at::Tensor>;

/// The correlation of the errors of several targets: what a model of several targets knows beyond one fitted
/// method a target. The errors are normal scores (normal_score in answers/density.h) of held-out rows.
struct ErrorCorrelation {
  at::Tensor matrix;     // [k, k] float64, a correlation matrix, positive definite
  double shrinkage = 1;  // share of the identity in the matrix, 0 to 1; 1: the targets count as independent
  int64_t rows = 0;      // rows of a weight > 0 in which at least two targets are known
  int64_t far = 0;       // scores beyond kFarthestNormalScore, which count as that (bounded_scores)
};

}  // namespace slimbayes
