#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "slimbayes/answers/censored/kaplan_meier.h"

namespace slimbayes {

/// Risks that differ by at most this much are tied, as in scikit-survival.
inline constexpr double kTiedRisk = 1e-8;

/// How often the row whose event comes first has the larger risk. A pair of rows is comparable if the one
/// with the earlier time had its event; of equal times, if one had its event and the other did not. Two
/// events at the same time are not comparable.
struct Concordance {
  double index = 0;  // share of comparable pairs in the right order, ties of the risk counting one half
  /// Numbers of comparable pairs, with weights the sums of the products of two weights: in the right order
  /// and in the wrong one, without ties; with tied risks; with equal times.
  double concordant = 0, discordant = 0, tied_risk = 0, tied_time = 0;
};

/// Returns Harrell's concordance index (Harrell et al. 1996, Statistics in Medicine 15) of the data and a
/// risk [n], which is finite and larger for rows with an earlier event: for predicted times take the negative
/// mean or median. 1/2 is chance. It depends on the distribution of the censoring times; uno_concordance does
/// not. A row of `weight` [n] w counts as w equal rows. O(n log n). Throws std::invalid_argument as
/// checked_survival, for another shape of the risk, and if no pair is comparable.
Concordance concordance(const SurvivalTimes& data, const at::Tensor& risk, const at::Tensor& weight = {});

/// Returns the concordance index of Uno et al. (2011, Statistics in Medicine 30): each pair counts 1 / G(t)^2
/// with the earlier time t and the censoring curve G of `training`, so that the index estimates that of data
/// without censoring, up to the time `before`. Only pairs whose earlier time is below `before` count in the
/// index; the numbers of pairs are those of concordance(). G is taken at t as in scikit-survival, not just
/// before it. Throws std::invalid_argument as concordance(), and if the time of a counted event is one at
/// which G is 0 or unknown: choose `before` at most the last time of `training`.
Concordance uno_concordance(const SurvivalTimes& training, const SurvivalTimes& data, const at::Tensor& risk,
                            std::optional<double> before = {}, const at::Tensor& weight = {});

}  // namespace slimbayes
