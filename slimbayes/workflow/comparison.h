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
  /// what the fit alone would take; of these, `seconds_shared` are the training of networks that had been
  /// trained before in this comparison (absent: none).
  std::vector<nlohmann::json> runs = {};
  std::string failure = "";             // why the method failed, a sentence; empty: it did not fail
  std::exception_ptr thrown = nullptr;  // the exception behind `failure`
};

/// Returns the callback that watches one fit of a comparison. `title` names the fit, such as "dbk seed 0".
using FitWatcher = std::function<std::unique_ptr<Callback>(const std::string& title)>;

/// Returns those of the methods that take these examples and their task. Throws std::invalid_argument if
/// `all_must` and a method does not.
std::vector<MethodChoice> methods_that_take(const Examples& examples, const FitOptions& options,
                                            const std::vector<MethodChoice>& methods, bool all_must);

/// Fits every method with the seeds 0 to seeds - 1 (a deterministic method once) on one split and reports on
/// its test examples, so that only method and seed differ. Methods that start from the same network
/// (MethodInfo::takes_network; the same options of network and training, and the same scale of the inputs)
/// train it once per seed (method/network_cache.h), and their results are those of separate fits, bit by
/// bit. `fit` holds everything but method, options and seed; its test_fraction is above 0. `notes` are known
/// of the data and precede the notes of each fit. A method that fails is recorded with its message. Throws
/// std::invalid_argument without a test_fraction. Once a callback's stop() returns true, the unfinished fit
/// is dropped and the comparison ends.
std::vector<MethodRuns> compare(const Examples& examples, const FitOptions& fit,
                                const std::vector<MethodChoice>& methods, int seeds,
                                const std::vector<std::string>& notes, const FitWatcher& watcher);

}  // namespace slimbayes
