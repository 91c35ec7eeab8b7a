#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The value of a score that tells nothing, for each metric of a separation.
struct ChanceOfSeparation {
  double auroc = 0, fpr95 = 0, tpr5 = 0, aupr_ood = 0, aupr_in = 0;
};

template <class V>
void describe(ChanceOfSeparation& f, V& v) {
  v("auroc", f.auroc, "0.5");
  v("fpr95", f.fpr95, "0.95");
  v("tpr5", f.tpr5, "0.05");
  v("aupr_ood", f.aupr_ood, "the share of the foreign rows");
  v("aupr_in", f.aupr_in, "the share of the others");
}

/// The histograms of a score over the evaluated and the foreign rows.
struct SeparationHistogram {
  double low = 0, high = 0;
  std::vector<int64_t> inside = {}, outside = {};
};

template <class V>
void describe(SeparationHistogram& f, V& v) {
  v("low", f.low, "lower end of 30 equal bins: the 1 % quantile of all rows");
  v("high", f.high, "upper end: the 99 % quantile; rows beyond are counted in the first and last bin");
  v("inside", f.inside, "number of evaluated rows in each bin");
  v("outside", f.outside, "number of foreign rows in each bin");
}

/// How well scores tell foreign rows from others: for each metric a number for each score.
struct SeparationReport {
  int64_t n = 0, n_foreign = 0;
  double foreign_share = 0;
  ChanceOfSeparation chance = {};
  std::map<std::string, double> auroc = {}, fpr95 = {}, tpr5 = {}, aupr_ood = {}, aupr = {}, aupr_in = {},
                                ratio = {};
  std::map<std::string, std::string> ratio_absent = {};
  std::vector<std::string> inverted = {};
  std::optional<double> residual_gain = {};
  std::optional<std::vector<ProjectorFact>> projectors = {};
  std::map<std::string, SeparationHistogram> histogram = {};
  std::optional<size_t> left_out = {};
};

template <class V>
void describe(SeparationReport& f, V& v) {
  v("n", f.n, "number of evaluated rows");
  v("n_foreign", f.n_foreign, "number of foreign rows");
  v("foreign_share", f.foreign_share, "share of the foreign rows");
  v("chance", f.chance, "what a score has that tells nothing");
  v("auroc", f.auroc, "area under the ROC curve with the foreign rows as positives");
  v("fpr95", f.fpr95, "share of the evaluated rows flagged if 95 % of the foreign ones are found");
  v("tpr5", f.tpr5, "share of the foreign rows found if at most 5 % of the others are flagged");
  v("aupr_ood", f.aupr_ood, "average precision with the foreign rows as positives");
  v("aupr", f.aupr, "the same as aupr_ood");
  v("aupr_in", f.aupr_in, "average precision of the negated score with the evaluated rows as positives");
  v("ratio", f.ratio, "mean score of the foreign rows divided by that of the others");
  v("ratio_absent", f.ratio_absent, "why a score has no ratio");
  v("inverted", f.inverted, "scores that are lower on foreign rows by more than chance explains");
  v("residual_gain", f.residual_gain, "AUROC of `residual` minus that of its control `gradient_norm`");
  v("projectors", f.projectors, "the projectors behind `residual`");
  v("histogram", f.histogram, "histograms of each score");
  v("left_out", f.left_out, "number of foreign rows without a finite answer");
}

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
