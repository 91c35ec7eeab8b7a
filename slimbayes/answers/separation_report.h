#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Returns how well scores for out-of-distribution detection separate foreign rows from others, as a JSON
/// object. `inside` holds the scores of the n other rows, `outside` those of the m foreign ones.
///   n, n_foreign   n and m
///   foreign_share  m / (n + m)
///   chance         an object with the value of an uninformative score for each metric below: auroc .5, fpr95
///                  .95, tpr5 .05, aupr_ood foreign_share, aupr_in 1 - foreign_share
/// and for each of these an object with a number for each score:
///   auroc     auroc() with the foreign rows as positives
///   fpr95     share of the other rows that are flagged if the threshold finds 95 % of the foreign ones
///             (false_positive_rate)
///   tpr5      share of the foreign rows that are found if at most 5 % of the others are flagged
///             (true_positive_rate)
///   aupr_ood  average_precision() with the foreign rows as positives. A constant score gives foreign_share.
///             The key `aupr` has the same numbers
///   aupr_in   average_precision() of the negated score with the other rows as positives
///   ratio     mean score of the foreign rows divided by that of the others; of mutual_information it is the
///             MI ratio, of epistemic_sd the ratio of the mean epistemic sds. `ratio_absent` has the reason
///             for a score without one: it takes negative values, as energy does, or its mean over the other
///             rows is 0
/// If there are the scores residual and gradient_norm, `residual_gain` is the AUROC of the first minus that
/// of the second, its control.
/// `inverted` lists the scores that are lower on foreign rows by more than chance explains (an AUROC more
/// than 3 sd below 0.5). Throws std::invalid_argument if a score has no rows on one side or is not finite,
/// and std::out_of_range if `outside` lacks a score of `inside`.
nlohmann::json separation_report(const Scores& inside, const Scores& outside);

/// Returns the histograms of each score as an object with, for each score: `low` and `high`, the ends of 30
/// equal bins, and `inside` and `outside`, the number of rows of each kind in each bin. The ends are the 1 %
/// and 99 % quantiles of all rows together; rows beyond them are counted in the first and the last bin. If
/// both are equal, `high` is `low` + 1. Throws as separation_report().
nlohmann::json score_histograms(const Scores& inside, const Scores& outside);

}  // namespace slimbayes
