#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/method/method.h"
#include "slimbayes/model/tuning_report.h"

namespace slimbayes {

/// The result of a fit: the best fit of a search over options or, without a search, the only fit.
struct Tuned {
  nlohmann::json options;  // every option of the best fit
  std::shared_ptr<const Fitted> fitted;
  std::optional<TuningReport> report = {};  // of the search; empty if nothing was tuned

  /// Returns whether the user stopped the search or the best fit. The result is then the best so far.
  bool interrupted() const {
    return fitted->summary().stopped == Stopped::interrupted || tuning_interrupted(report);
  }
};

/// Fits every combination of the options `names` over their grids in the catalogue (OptionDoc::grid), with
/// the same seed, and keeps the fit with the least NLL on the validation rows (of the standardised target, of
/// classes or of counts; for events the method's own score). The first of equal scores wins. A combination
/// that fails numerically is reported; the search fails only if all do. Options that act only with Gaussian
/// noise (alpha) are left out for tasks other than regression. Each combination gets an
/// equal part of the time that is left (FitContext::until). The checkpoint keeps finished fits: a killed
/// search continues with the next combination and gives the same bits. An interrupted search returns the best
/// fit so far, or throws Interrupted if there is none. Throws std::invalid_argument for an option without a
/// grid, and if there are no validation rows.
Tuned tune(const MethodInfo& method, const nlohmann::json& options, const std::vector<std::string>& names,
           const Split& split, const FitContext& context);

}  // namespace slimbayes
