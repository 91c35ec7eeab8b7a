#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"

namespace slimbayes {

// What `evaluate` says of the uncertainty of answers: structs of catalog/fields.h.

/// The metrics of the rows that a score of uncertainty keeps: one number for each share.
struct KeptRowMetrics {
  bool constant = false;
  std::optional<std::vector<double>> accuracy = {}, mae = {}, rmse = {}, nll = {};
  std::map<std::string, double> gain = {};
  std::optional<std::map<std::string, double>> gain_share = {};
};

template <class V>
void describe(KeptRowMetrics& f, V& v) {
  v("constant", f.constant, "whether the score is the same for all rows, so that it selects none");
  v("accuracy", f.accuracy, "accuracy at each share; of classes");
  v("mae", f.mae, "mean absolute error at each share: of the median, of counts of the mean");
  v("rmse", f.rmse, "root of the expected squared error of the mean at each share");
  v("nll", f.nll, "negative log likelihood at each share, in nats a row");
  v("gain", f.gain, "improvement of each metric from the first share to the last; positive is better");
  v("gain_share", f.gain_share,
    "gain of mae and rmse divided by the metric of all rows; absent where that is 0");
}

/// Selective prediction by each score of uncertainty.
struct SelectiveReport {
  std::string score = {};
  std::vector<double> share = {};
  std::vector<int64_t> rows = {};
  std::map<std::string, KeptRowMetrics> by = {};
};

template <class V>
void describe(SelectiveReport& f, V& v) {
  v("score", f.score, "name of the score to look at first");
  v("share", f.share, "shares of the rows that are kept");
  v("rows", f.rows, "number of rows that each share keeps");
  v("by", f.by, "the metrics of the kept rows, for each score");
}

/// How well scores of uncertainty tell the wrong answers from the right ones.
struct ErrorsReport {
  int64_t wrong = 0;
  double rate = 0;
  std::optional<std::string> absent = {};
  std::optional<std::map<std::string, double>> aupr_err = {}, aupr_succ = {};
};

template <class V>
void describe(ErrorsReport& f, V& v) {
  v("wrong", f.wrong, "number of wrong answers");
  v("rate", f.rate, "share of wrong answers");
  v("absent", f.absent, "why there is nothing to tell apart");
  v("aupr_err", f.aupr_err, "average precision of each score with the wrong rows as positives");
  v("aupr_succ", f.aupr_succ, "average precision of each negated score with the right rows as positives");
}

/// Rows binned by the probability of their most probable class.
struct ReliabilityBins {
  std::vector<double> confidence, accuracy;
  std::vector<int64_t> rows;
};

template <class V>
void describe(ReliabilityBins& f, V& v) {
  v("confidence", f.confidence, "mean probability of the most probable class in each bin");
  v("accuracy", f.accuracy, "share of right answers in each bin");
  v("rows", f.rows, "number of rows in each bin");
}

/// The calibration curve of Gaussian intervals.
struct CurveFact {
  std::vector<double> level = {}, coverage = {};
  double area = 0;
  std::optional<std::vector<double>> coverage_epistemic = {};
  std::optional<double> area_epistemic = {};
};

template <class V>
void describe(CurveFact& f, V& v) {
  v("level", f.level, "19 nominal levels");
  v("coverage", f.coverage, "share of the rows in the Gaussian interval of each level");
  v("area", f.area, "mean distance between coverage and level");
  v("coverage_epistemic", f.coverage_epistemic, "the same of intervals of the epistemic sd alone");
  v("area_epistemic", f.area_epistemic, "mean distance of these from the level");
}

/// The intervals of the epistemic sd alone.
struct EpistemicReport {
  double coverage = 0, width = 0, width_standardized = 0;
};

template <class V>
void describe(EpistemicReport& f, V& v) {
  v("coverage_epistemic", f.coverage, "coverage of the intervals of the epistemic sd alone");
  v("width_epistemic", f.width, "their mean width, in the target's units");
  v("width_epistemic_standardized", f.width_standardized, "their mean width, in sds of the target");
}

/// The metrics that judge the uncertainty of an answer, beside those of report() (answers/answers.h).
struct UncertaintyReport {
  SelectiveReport selective = {};
  std::optional<ErrorsReport> errors = {};
  std::optional<ReliabilityBins> reliability = {};
  std::optional<CurveFact> calibration_curve = {};
  std::optional<EpistemicReport> epistemic = {};
};

template <class V>
void describe(UncertaintyReport& f, V& v) {
  v("selective", f.selective, "the metrics if only the rows are answered that the model is most certain of");
  v("errors", f.errors, "how well the scores tell the wrong answers; of classes");
  v("reliability", f.reliability, "confidence and accuracy in 15 bins of equal mass; of classes");
  v("calibration_curve", f.calibration_curve, "coverage of the Gaussian intervals of each level; of numbers");
  v.part(f.epistemic);
}

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

/// The projector of a key layer, from which the score "residual" comes (inducing/gradient_projection.h).
struct ProjectorFact {
  std::string layer = {};
  int64_t columns = 0, directions = 0;
  double rank = 0;
  int64_t kept = 0;
};

template <class V>
void describe(ProjectorFact& f, V& v) {
  v("layer", f.layer, "label of the layer");
  v("columns", f.columns, "inducing columns of the layer");
  v("directions", f.directions, "directions of the gradients of the training rows");
  v("rank", f.rank, "trace of the projector");
  v("kept", f.kept, "number of directions that take the projector's place; 0 where it serves");
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

}  // namespace slimbayes
