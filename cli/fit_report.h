#pragma once

#include <string>

#include "cli/request.h"
#include "slimbayes/fit/fit_outcome.h"
#include "slimbayes/fit/fit_report.h"
#include "slimbayes/model/model.h"

namespace slimbayes::cli {

/// Returns as text, one line each, what a fit chose besides its parameters: the facts of its summary, the
/// options found by --tune and whether they mattered, and the factor that calibration gives the interval or
/// the sets of classes at this level. "" if there was no choice.
std::string choices_text(const Model& model, double level);

/// Returns what `fit --json` says of a fit that has a model.
FitReport fit_report(const FitRequest& request, const FitOutcome& outcome);

}  // namespace slimbayes::cli
