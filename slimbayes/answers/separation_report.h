#pragma once

#include <map>
#include <string>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/answers/uncertainty_facts.h"

namespace slimbayes {

/// Returns how well scores for out-of-distribution detection separate foreign rows from others. `inside`
/// holds the scores of the n other rows, `outside` those of the m foreign ones.
///   auroc     auroc() with the foreign rows as positives
///   fpr95     share of the other rows that are flagged if the threshold finds 95 % of the foreign ones
///             (false_positive_rate)
///   tpr5      share of the foreign rows that are found if at most 5 % of the others are flagged
///             (true_positive_rate)
///   aupr_ood  average_precision() with the foreign rows as positives. A constant score gives foreign_share.
///   aupr_in   average_precision() of the negated score with the other rows as positives
///   ratio     mean score of the foreign rows divided by that of the others; of mutual_information it is the
///             MI ratio, of epistemic_sd the ratio of the mean epistemic sds. A score has none if it takes
///             negative values, as energy does, or its mean over the other rows is 0
///   inverted  the scores with an AUROC more than 3 sd below 0.5
/// The histograms and the projectors are empty. Throws std::invalid_argument if a score has no rows on one
/// side or is not finite, and std::out_of_range if `outside` lacks a score of `inside`.
SeparationReport separation_report(const Scores& inside, const Scores& outside);

/// Returns the histograms of each score. The ends are the 1 % and 99 % quantiles of all rows together; rows
/// beyond them are counted in the first and the last bin. If both are equal, `high` is `low` + 1. Throws as
/// separation_report().
std::map<std::string, SeparationHistogram> score_histograms(const Scores& inside, const Scores& outside);

}  // namespace slimbayes
