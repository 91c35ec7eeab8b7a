#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/flags.h"
#include "cli/request.h"
#include "slimbayes/catalog/method_choices.h"

namespace slimbayes::cli {

// The requests of fit and compare, made of their flags and checked as far as that is possible before the data
// are read. What the data decide is left open: resolve_fit (slimbayes/workflow/resolved_fit.h) decides it.

/// The request of `fit`, with what its flags alone tell.
struct EarlyFit {
  FitRequest request;
  /// The method that is named, or else the default of the task as far as it is known.
  const MethodInfo* method;
  ChosenOptions chosen;  // of `method`
  bool by_target;        // only the target's column tells the method
};

/// Returns the request of `fit`. Throws std::invalid_argument for flags that do not fit each other.
EarlyFit fit_of(const Parsed& parsed);

/// Returns what `fit --dry-run` prints: the recipe, as JSON.
std::string dry_run_of(const EarlyFit& fit);

/// Returns the request of `compare`. Throws std::invalid_argument for flags that do not fit each other.
CompareRequest compare_of(const Parsed& parsed);

}  // namespace slimbayes::cli
