#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The number of scores at the beginning of a state by whose quantile the tracking starts.
inline constexpr int64_t kAdaptiveStart = 20;

/// Returns the state after these scores too, which follow in time. Going through two lists after each other
/// gives the state of their concatenation. Throws std::invalid_argument for a score that is not finite or
/// below 0; one above kUncoverable counts as kUncoverable.
AdaptiveScores advanced(AdaptiveScores state, std::span<const double> scores);

/// Returns the factor q_t of this level before each of the scores, and last the one after all of them.
/// [m + 1] A target of score s_t lies in its interval if s_t <= q_t. The factor before a score depends on
/// earlier scores alone. With alpha = 1 - level, the first kAdaptiveStart factors are empirical quantiles;
/// then, by conformal PID control without scorecasting (Angelopoulos, Candes and Tibshirani 2023, sections
/// 2.1 and 2.2),
///   err_t = 1 if s_t > q_t, else 0;  E_t = sum of (err_i - alpha) over the scores after the start
///   p_{t+1} = p_t + 0.1 B_t (err_t - alpha),  B_t the largest of the last 100 scores
///   q_{t+1} = p_{t+1} + 0.3 B_t tan(E_t log(t + 1) / (C (t + 1))),  C = 2 / pi,
/// where the tangent is infinite beyond +-pi / 2; the factor is then +-kUncoverable. A factor below 0 stands
/// for an empty interval. Throws std::invalid_argument unless 0 < level < 1.
std::vector<double> adaptive_factors(std::span<const double> scores, double level);

/// Returns the factor of the next interval, the last of adaptive_factors(), but at least 0: that an interval
/// has no width is as near as an answer comes to an empty one. Throws as adaptive_factors().
double adaptive_factor(const AdaptiveScores& state, double level);

/// Returns the most by which the share of missed targets can differ from 1 - level, among the scores after
/// the first kAdaptiveStart of m, whatever the scores are: (h(m) + 1) / (m - kAdaptiveStart) with
/// h(m) = (m + 1) / log(m + 1) (proposition 2 and theorem 1 of the paper, for the saturation above). Throws
/// std::invalid_argument unless m > kAdaptiveStart.
double adaptive_bound(int64_t m);

/// Returns the share of these scores that their intervals hold if the state advances through them in this
/// order, so that each target changes the intervals after it. Throws std::invalid_argument if there are no
/// scores, and as advanced() and adaptive_factors().
double online_coverage(const AdaptiveScores& state, std::span<const double> scores, double level);

/// Returns the interval of each row at the present state, as conformal_interval() with adaptive_factor() in
/// the place of its factor. Throws as adaptive_factors().
Interval adaptive_interval(const Regression& p, const AdaptiveScores& state, double level);

/// Returns the level alpha_t of missed targets before each score and after the last by plain adaptive
/// conformal inference, alpha_{t+1} = alpha_t + step (alpha - err_t) (Gibbs and Candes 2021, eq. 2), where
/// err_t says whether the score lies above the empirical quantile 1 - alpha_t of all earlier scores, which is
/// infinite for alpha_t <= 0 and -infinite for alpha_t >= 1. [m + 1] For comparison; the share of misses
/// differs from alpha by at most (max(alpha, 1 - alpha) + step) / (step m) (their proposition 4.1). Throws
/// std::invalid_argument unless 0 < level < 1 and step > 0.
std::vector<double> plain_adaptive_levels(std::span<const double> scores, double level, double step);

}  // namespace slimbayes
