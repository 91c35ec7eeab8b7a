#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Censored targets of n rows: the target of a row is only known to lie in [lower, upper]. Equal bounds are a
/// target that is known exactly. upper = +inf is right censoring ("still alive at 5 years"), lower = -inf
/// left censoring ("below the limit of detection"), both a target of which nothing is known. The reason why a
/// row is censored must not tell more of its target than the bounds do (independent censoring); all functions
/// assume this.
struct Censored {
  at::Tensor lower, upper;  // [n] float64, lower <= upper, neither at its own infinity; units of the target

  int64_t size() const { return lower.size(0); }
  at::Tensor exact() const;  // [n] bool: the rows whose target is known
};

/// Returns these targets in float64. Throws std::invalid_argument, which names `function`, unless the bounds
/// are two [n], n > 0, without NaN, with lower <= upper, lower < +inf and upper > -inf. Reads the bounds: for
/// targets on a device call it once and not in every step.
Censored checked_censored(const Censored& target, std::string_view function);

/// Returns the targets of right-censored data: rows with event = 1 have the target `time`, rows with event =
/// 0 one above it. time [n] finite, event [n] of any type with values 0 and 1. Throws std::invalid_argument
/// for others.
Censored right_censored(const at::Tensor& time, const at::Tensor& event);

/// Returns the log-likelihood of each row under a Gaussian, in nats: of an exact row the log density, else
///   log(Phi((upper - mean) / sd) - Phi((lower - mean) / sd)),   sd = sqrt(var),
/// with a relative error below 1e-12, given the standardised bounds, far in the tails (|bound| = 40 sd and
/// beyond) and for narrow intervals, too. This is the likelihood of a Tobit model (Tobin 1958, Estimation of
/// relationships for limited dependent variables).
///
/// Differentiable in mean and var, once, by the closed form
///   d / d mean = E[z | interval] / sd,   d / d var = (E[z^2 | interval] - 1) / (2 var),
/// which is that of the Gaussian density with the moments of the truncated z = (y - mean) / sd in the place
/// of z and z^2. It is finite and stable in the tails, and tends to that of the exact row as the interval
/// shrinks.
///
/// mean, var [n], var > 0, of any floating type, on the device of the target. Only shapes are checked, so
/// that a training step reads nothing back (checked_censored). Throws std::invalid_argument for other shapes.
/// [n] float64
at::Tensor censored_log_prob(const at::Tensor& mean, const at::Tensor& var, const Censored& target);

/// Returns E[y | lower <= y <= upper] of each row under a Gaussian, which lies in the interval: the target of
/// an exact row, mean where nothing is known. Use it to fill in censored targets, for example before a first
/// fit. One such filling makes the spread of the targets too small. Arguments and errors are those of
/// censored_log_prob; no gradients. [n] float64
at::Tensor truncated_mean(const at::Tensor& mean, const at::Tensor& var, const Censored& target);

/// Returns the negative log-likelihood of each row under its predictive density, which may be a mixture, in
/// nats: -log p(y) of an exact row, else -log P(lower <= Y <= upper). Throws std::invalid_argument as
/// checked_censored and regression_row_nll. [n] float64
at::Tensor censored_row_nll(const Regression& p, const Censored& target);

/// Returns the mean of censored_row_nll, by `weight` [n] (answers/row_mean.h) if it is defined. Exact rows
/// add densities and others probabilities: compare it only between answers to the same rows.
double censored_nll(const Regression& p, const Censored& target, const at::Tensor& weight = {});

}  // namespace slimbayes
