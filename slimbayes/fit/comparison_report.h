#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"
#include "slimbayes/fit/comparison.h"

namespace slimbayes {

// What `compare`, and `evaluate` with folds, say as JSON: structs of catalog/fields.h.

/// What a comparison says of a method.
struct ComparedMethod {
  std::string method = {};
  std::vector<MethodRun> runs = {};
  std::optional<std::string> failed = {};
  std::optional<std::map<std::string, double>> mean = {}, sd = {};
};

template <class V>
void describe(ComparedMethod& f, V& v) {
  v("method", f.method, "name of the method");
  v("runs", f.runs, "the report of every fit on its test examples");
  v("failed", f.failed, "why the method failed");
  v("mean", f.mean, "mean of each metric over the fits");
  v("sd", f.sd, "sd of each metric over the fits");
}

/// A note of a comparison with the methods that gave it.
struct ComparedNote {
  std::string note, methods;
};

template <class V>
void describe(ComparedNote& f, V& v) {
  v("note", f.note, "the note, in the wording of the first fit that gave it");
  v("methods", f.methods, "the methods that gave it, or all");
}

/// The two methods with the lowest NLL.
struct LeadingFact {
  std::string first, second, metric = "nll";
  double difference = 0, standard_error = 0, bound = 0;
  int64_t splits = 0;
  bool decided = false;
};

template <class V>
void describe(LeadingFact& f, V& v) {
  v("first", f.first, "method with the lowest mean NLL");
  v("second", f.second, "method with the second lowest");
  v("metric", f.metric, "nll");
  v("difference", f.difference, "mean over the splits of the first's NLL minus the second's, in nats a row");
  v("standard_error", f.standard_error, "its standard error over splits that share rows");
  v("bound", f.bound, "its 95 % bound");
  v("splits", f.splits, "number of splits");
  v("decided", f.decided, "whether the difference is beyond the bound");
}

/// The report of the tool's `compare`.
struct ComparisonReport {
  std::vector<ComparedMethod> methods = {};
  std::vector<ComparedNote> notes = {};
  std::optional<std::map<std::string, ForecastScores>> forecasts = {};
  std::string data = {}, target = {};
  int seeds = 0, repeats = 0, folds = 0;
  double level = 0;
  std::optional<LeadingFact> leading = {};
  std::optional<bool> interrupted = {};
};

template <class V>
void describe(ComparisonReport& f, V& v) {
  v("methods", f.methods, "the methods, in the order in which they were fitted");
  v("notes", f.notes, "the notes of all fits, without repetition");
  v("forecasts", f.forecasts, "the forecasts without a model; of windows");
  v("data", f.data, "name of the data file");
  v("target", f.target, "name of the target");
  v("seeds", f.seeds, "fits of a method on each split");
  v("repeats", f.repeats, "number of random splits");
  v("folds", f.folds, "folds of a cross-validation; 0: none");
  v("level", f.level, "level of the intervals");
  v("leading", f.leading, "the two methods with the lowest NLL; with several splits");
  v("interrupted", f.interrupted, "true if the comparison was interrupted; else absent");
}

/// The report of the tool's `evaluate` with folds: a model's method and options, fitted anew without each
/// fold and scored on it.
struct FoldsReport {
  std::string method = {}, data = {};
  int folds = 0;
  double level = 0;
  int64_t n = 0;
  std::map<std::string, double> pooled = {}, sd = {};
  std::vector<MethodRun> runs = {};
  std::optional<bool> interrupted = {};
};

template <class V>
void describe(FoldsReport& f, V& v) {
  v("method", f.method, "name of the method");
  v("data", f.data, "name of the data file");
  v("folds", f.folds, "number of folds");
  v("level", f.level, "level of the intervals and sets");
  v("n", f.n, "number of examples that were scored, each by a fit that did not see it");
  v("pooled", f.pooled,
    "each metric over these examples; one that is no mean over examples, such as an area under a curve, is "
    "the mean over the folds weighted by their examples");
  v("sd", f.sd, "sd of each metric over the folds; with several of them");
  v("runs", f.runs, "the report of every fit on its fold");
  v("interrupted", f.interrupted, "true if folds are missing because of an interrupt; else absent");
}

}  // namespace slimbayes
