#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/catalog/fields.h"
#include "slimbayes/model/tuning_report.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

// What `fit` says as JSON: structs of catalog/fields.h.

/// The number of examples in each part of a fit.
struct RowsOfFit {
  int64_t train = 0, valid = 0, test = 0;
  std::optional<int64_t> calibration = {};
};

template <class V>
void describe(RowsOfFit& f, V& v) {
  v("train", f.train, "examples that the model learned from");
  v("valid", f.valid, "examples that chose among parameters");
  v("test", f.test, "examples that the fit did not see");
  v("calibration", f.calibration, "examples kept for the calibration; of a calibrated model");
}

/// The estimate of the noise by cross-fitting (model/noise_estimate.h). NaN is null in JSON.
struct NoiseReport {
  int64_t folds = 0, rows = 0;
  double var = 0, sd = 0;
  std::vector<std::string> notes = {};
  std::optional<bool> interrupted = {};
};

template <class V>
void describe(NoiseReport& f, V& v) {
  v("folds", f.folds, "number of folds; 0 if there is no estimate");
  v("rows", f.rows, "number of rows that it rests on");
  v("var", f.var, "least aleatoric variance, of the standardised target; null without an estimate");
  v("sd", f.sd, "its root in the target's units; null without an estimate");
  v("notes", f.notes, "sentences on the estimate");
  v("interrupted", f.interrupted, "true if the user stopped it before the last fold; else absent");
}

/// The conformal calibration at the level of a fit.
struct ConformalReport {
  double level = 0, factor = 0;
  std::pair<double, double> coverage_range = {};
};

template <class V>
void describe(ConformalReport& f, V& v) {
  v("level", f.level, "level of the intervals or sets");
  v("factor", f.factor, "what takes the place of the normal quantile; of classes the summed probability");
  v("coverage_range", f.coverage_range, "coverage of new examples with probability 90 %: least and largest");
}

/// The processes that made a fit together.
struct RanksReport {
  int64_t size = 0;
  std::string share = {};
  double waiting_seconds = 0;
};

template <class V>
void describe(RanksReport& f, V& v) {
  v("size", f.size, "number of processes");
  v("share", f.share, "what they shared: \"rows\" of every batch or \"jobs\", the fits of a search");
  v("waiting_seconds", f.waiting_seconds, "time that rank 0 has waited for messages, in seconds");
}

/// The report of the tool's `fit`.
struct FitReport {
  std::string method = {}, model = {};
  uint64_t seed = 0;
  RowsOfFit rows = {};
  Summary summary = {};
  nlohmann::json options = {};
  std::vector<std::string> notes = {};
  std::optional<std::string> calibration = {};
  std::optional<ConformalReport> conformal = {};
  std::optional<TuningReport> tuning = {};
  std::optional<NoiseReport> noise = {};
  std::optional<RanksReport> ranks = {};
  std::optional<Evaluation> test = {}, valid = {};
};

template <class V>
void describe(FitReport& f, V& v) {
  v("method", f.method, "name of the method");
  v("model", f.model, "name of the model file");
  v("seed", f.seed, "seed of the fit");
  v("rows", f.rows, "number of examples in each part of the split");
  v("summary", f.summary, "steps, epochs, seconds, best score and why the training stopped");
  v("options", f.options, "every option of the method");
  v("notes", f.notes, "sentences on the data, the fit and its trust");
  v("calibration", f.calibration, "conformal or adaptive; of a calibrated model");
  v("conformal", f.conformal, "the calibration; of a model with conformal calibration");
  v("tuning", f.tuning, "what the search over options tried; of a tuned model");
  v("noise", f.noise, "the estimate of the noise by cross-fitting; of a fit with few validation rows");
  v("ranks", f.ranks, "the processes that made the fit together; of one process absent");
  v("test", f.test, "the metrics of the test examples, as evaluate reports them");
  v("valid", f.valid, "the metrics of the validation examples");
}

/// The fit of one of several targets.
struct FitOfTarget {
  std::string target = {}, method = {};
  RowsOfFit rows = {};
  Summary summary = {};
  nlohmann::json options = {};
  std::optional<ConformalReport> conformal = {};
  std::optional<TuningReport> tuning = {};
  std::optional<NoiseReport> noise = {};
  std::optional<Evaluation> test = {}, valid = {};
};

template <class V>
void describe(FitOfTarget& f, V& v) {
  v("target", f.target, "name of the target");
  v("method", f.method, "name of the method");
  v("rows", f.rows, "number of examples in each part that have the target");
  v("summary", f.summary, "steps, epochs, seconds, best score and why the training stopped");
  v("options", f.options, "every option of the method");
  v("conformal", f.conformal, "the calibration; of a calibrated model");
  v("tuning", f.tuning, "what the search over options tried; of a tuned model");
  v("noise", f.noise, "the estimate of the noise by cross-fitting; of a fit with few validation rows");
  v("test", f.test, "the metrics of the test examples, as evaluate reports them");
  v("valid", f.valid, "the metrics of the validation examples");
}

/// The correlation of the held-out errors of several targets.
struct CorrelationReport {
  std::vector<std::string> targets = {};
  std::vector<std::vector<double>> matrix = {};
  double shrinkage = 0;
  int64_t rows = 0;
};

template <class V>
void describe(CorrelationReport& f, V& v) {
  v("targets", f.targets, "the targets that are numbers or counts");
  v("matrix", f.matrix, "correlation of the normal scores of their errors, a list for each of them");
  v("shrinkage", f.shrinkage, "share by which it was drawn to 0; 1: they count as independent");
  v("rows", f.rows, "number of held-out rows with two of the targets or more");
}

/// The report of the tool's `fit` of several targets.
struct JointFitReport {
  std::string model = {};
  uint64_t seed = 0;
  RowsOfFit rows = {};
  std::vector<FitOfTarget> targets = {};
  CorrelationReport correlation = {};
  std::vector<std::string> notes = {};
  std::optional<JointEvaluation> test = {}, valid = {};
};

template <class V>
void describe(JointFitReport& f, V& v) {
  v("model", f.model, "name of the model file");
  v("seed", f.seed, "seed of the fits");
  v("rows", f.rows, "number of examples in each part of the split, which all targets share");
  v("targets", f.targets, "the fit of each target");
  v("correlation", f.correlation, "the correlation of their errors");
  v("notes", f.notes, "sentences on the data, the fits and their trust");
  v("test", f.test, "the joint scores of the test examples");
  v("valid", f.valid, "the joint scores of the validation examples, on which the correlation rests");
}

}  // namespace slimbayes
