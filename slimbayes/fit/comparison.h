#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/fields.h"
#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/paired_difference.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/export.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// A fit of a comparison (a struct of catalog/fields.h).
struct RunOfFit {
  uint64_t seed = 0, split_seed = 0;
  std::optional<int64_t> fold = {};
  std::vector<std::string> notes = {}, facts = {};
  double seconds = 0;
  std::optional<double> seconds_shared = {};
};

template <class V>
void describe(RunOfFit& f, V& v) {
  v("seed", f.seed, "seed of the fit");
  v("split_seed", f.split_seed, "seed of the split");
  v("fold", f.fold, "number of the fold that was tested on; with folds");
  v("notes", f.notes, "what `fit` would note");
  v("facts", f.facts, "what the fit chose (Summary::facts)");
  v("seconds", f.seconds, "the time that the fit would take alone");
  v("seconds_shared", f.seconds_shared,
    "the part of it that is the training of a network which an earlier run or method needs as well");
}

/// A fit and its metrics on the test examples (report_on).
struct MethodRun {
  Evaluation report = {};
  RunOfFit fit = {};
};

template <class V>
void describe(MethodRun& f, V& v) {
  v.part(f.report);
  v.part(f.fit);
}

/// The result of one method in a comparison.
struct MethodRuns {
  std::string method;
  std::vector<MethodRun> runs = {};     // one for each split and seed
  std::string failure = "";             // why the method failed; empty: it did not fail
  std::exception_ptr thrown = nullptr;  // the exception behind `failure`
};

/// Returns those of `methods` that can fit these examples, which depends on their kind (rows, windows,
/// images, text) and on the task of the target. If `all_must` is true, throws std::invalid_argument for a
/// method that cannot.
SLIMBAYES_EXPORT std::vector<MethodChoice> methods_that_take(const Examples& examples,
                                                             const FitOptions& options,
                                                             const std::vector<MethodChoice>& methods,
                                                             bool all_must);

/// Returns the methods of a comparison. If the user has `named` the methods, all of `methods` are in it, else
/// only those that can fit these examples. The plain methods (MethodInfo::plain) that can fit them are added
/// at the end. Throws as methods_that_take.
SLIMBAYES_EXPORT std::vector<MethodChoice> methods_to_compare(const Examples& examples,
                                                              const FitOptions& options,
                                                              const std::vector<MethodChoice>& methods,
                                                              bool named);

/// Fits every method on every split with the seeds fit.seed, fit.seed + 1, ..., reports on the test examples,
/// and returns one result per method. All methods use the same splits, so that only method and seed differ.
/// `fit` holds all options except method and method options; its test_fraction must be above 0. `notes` are
/// notes on the data; the notes of every report begin with them.
///
/// Methods that start from a trained network (MethodInfo::takes_network) train it once per seed and share it
/// (method/network_cache.h), if their options for the network and its training and the scale of their inputs
/// are equal. The results equal those of separate fits bit by bit.
///
/// FitOptions::workers fits run beside each other, with one thread each; the results do not depend on how
/// many (train/jobs.h). `callback` (nullptr: none) is told what runs, such as "dbk seed 0". If a method
/// fails, its message is recorded and the other methods are fitted. If the callback's stop() returns true,
/// unfinished fits are dropped, and the results of the finished ones are returned. Throws
/// std::invalid_argument if test_fraction is 0, for repeats with folds, or for several splits of what is
/// split by time: a time series, or a table with FitOptions::split "time".
///
/// With `ranks` (nullptr: this process alone), several processes that call compare() with the same arguments
/// share the fits (train/job_ranks.h). Each of them trains the networks that its own fits need. Rank 0
/// returns the results, which are those of one process; the others throw JobsServed, or RanksEnded where rank
/// 0 throws. If one ends, rank 0 throws RanksEnded. Ranks with other arguments are refused.
SLIMBAYES_EXPORT std::vector<MethodRuns> compare(const Examples& examples, const FitOptions& fit,
                                                 const std::vector<MethodChoice>& methods,
                                                 const ComparisonPlan& plan,
                                                 const std::vector<std::string>& notes, Callback* callback,
                                                 const Collective* ranks = nullptr);

/// Returns the forecasts without a model that the reports of a comparison on windows contain, persistence and
/// seasonal_persistence (model/persistence.h), without the scores of the model. They are taken from the first
/// report, because all methods answer for the same test windows. A forecast may have values for fewer of
/// them, its `n`. Empty for other examples.
SLIMBAYES_EXPORT std::map<std::string, ForecastScores> forecasts_in(const std::vector<MethodRuns>& results);

/// The two methods with the lowest mean NLL, and the difference of their NLLs by split.
struct LeadingPair {
  std::string first, second;
  PairedDifference difference;  // first minus second, below 0
};

/// Returns the leading pair of a comparison over at least two splits, each NLL averaged over the seeds of a
/// split; nothing if fewer than two methods have an NLL on every split. `test_fraction` is FitOptions', or 1
/// / folds.
SLIMBAYES_EXPORT std::optional<LeadingPair> leading_pair(const std::vector<MethodRuns>& results,
                                                         double test_fraction);

}  // namespace slimbayes
