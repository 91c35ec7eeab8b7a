#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/train/callback.h"

namespace slimbayes {

/// The result of one method in a comparison.
struct MethodRuns {
  std::string method;
  /// One report of the test examples per seed (report_on), with `seed`, `seconds` and `notes`. `seconds` is
  /// the time that the fit would take alone. `seconds_shared` is the part of it for networks that another fit
  /// of this comparison had trained already (absent: none).
  std::vector<nlohmann::json> runs = {};
  std::string failure = "";             // why the method failed, a sentence; empty: it did not fail
  std::exception_ptr thrown = nullptr;  // the exception behind `failure`
};

/// Returns the callback that watches one fit of a comparison. `title` names the fit, such as "dbk seed 0".
using FitWatcher = std::function<std::unique_ptr<Callback>(const std::string& title)>;

/// Returns the methods that take these examples and their task. Throws std::invalid_argument if `all_must` is
/// set and a method does not take them.
std::vector<MethodChoice> methods_that_take(const Examples& examples, const FitOptions& options,
                                            const std::vector<MethodChoice>& methods, bool all_must);

/// Fits every method with the seeds 0 to seeds - 1 (a deterministic method once) and reports on the test
/// examples. All fits use one split, so that only method and seed differ. `fit` holds all options except
/// method, method options and seed; its test_fraction must be above 0. `notes` are notes on the data; they
/// precede the notes of each fit.
///
/// Methods that start from the same network (MethodInfo::takes_network) train it once per seed
/// (method/network_cache.h) if their network and training options and the scale of the inputs are equal. The
/// results equal those of separate fits bit by bit.
///
/// If a method fails, its message is recorded and the others go on. Throws std::invalid_argument without a
/// test_fraction. If a callback's stop() returns true, the unfinished fit is dropped and the comparison ends.
std::vector<MethodRuns> compare(const Examples& examples, const FitOptions& fit,
                                const std::vector<MethodChoice>& methods, int seeds,
                                const std::vector<std::string>& notes, const FitWatcher& watcher);

}  // namespace slimbayes
