#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/flags.h"
#include "cli/request.h"
#include "slimbayes/catalog/method_choices.h"

namespace slimbayes::cli {

// The requests of fit and compare, made from their flags and checked as far as possible before the data are
// read. resolve_fit (slimbayes/workflow/resolved_fit.h) decides later what depends on the data.

/// The request of `fit`, with everything that its flags determine.
struct EarlyFit {
  FitRequest request;
  /// The named method, else the default method of the task, if known.
  const MethodInfo* method;
  ChosenOptions chosen;  // of `method`
  bool by_target;        // the target's column decides the method
};

/// Returns the request of `fit`. Throws std::invalid_argument for flags that do not fit each other.
EarlyFit fit_of(const Parsed& parsed);

/// Returns what `fit --dry-run` prints: the recipe, as JSON.
std::string dry_run_of(const EarlyFit& fit);

/// Returns the request of `compare`. Throws std::invalid_argument for flags that do not fit each other.
CompareRequest compare_of(const Parsed& parsed);

}  // namespace slimbayes::cli
