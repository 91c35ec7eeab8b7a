#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/flags.h"
#include "cli/request.h"
#include "slimbayes/catalog/method_choices.h"

namespace slimbayes::cli {

// Makes the requests of fit and compare from their flags and checks them as far as possible before the data
// are read. Choices that depend on the data are made later by resolve_fit
// (slimbayes/fit/resolved_fit.h).

/// The request of `fit`, with everything that its flags determine before the data are read.
struct EarlyFit {
  FitRequest request;
  /// The method that flags name, else the default method of the task; of regression if the task is not known
  /// yet.
  const MethodInfo* method;
  ChosenOptions chosen;  // all options of `method`, and those to tune
  bool by_target;        // true: the target's column may still decide another method
};

/// Returns the request of `fit`. Throws std::invalid_argument for flags that contradict each other or the
/// method.
EarlyFit fit_of(const Parsed& parsed);

/// Returns the output of `fit --dry-run`: all settings of the fit (recipe()), as JSON text.
std::string dry_run_of(const EarlyFit& fit);

/// Returns the request of `compare`. Throws std::invalid_argument for flags that contradict each other or a
/// method.
CompareRequest compare_of(const Parsed& parsed);

}  // namespace slimbayes::cli
