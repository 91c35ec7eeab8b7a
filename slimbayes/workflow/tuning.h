#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/families/method.h"

namespace slimbayes {

/// The best of a grid of fits.
struct Tuned {
  nlohmann::json options;  // every option of the best
  std::shared_ptr<const Fitted> fitted;
  /// {"options": names, "combinations": how many, "tried": [{name: value, ..., "valid_nll": x or "failed":
  /// sentence}], "best": {name: value, ..., "valid_nll": x}, "spread": the largest valid_nll
  /// less the smallest}, and "interrupted": true when not all were tried.
  nlohmann::json report;

  /// Stopped before its end: the best so far.
  bool interrupted() const {
    return fitted->summary().stopped == "interrupted" ||
           (report.is_object() && report.contains("interrupted"));
  }
};

/// Throws std::invalid_argument unless it is what Tuned::report says: a file may hold anything in its place.
void check_tuning_report(const nlohmann::json& report);

/// Fits every combination of the options `names` over their grids in the catalogue, with the same seed, and
/// keeps the one of the least NLL on the validation rows (of the standardised target, of classes or of
/// counts; of events the method's own score; ties: the first). A combination that fails numerically is
/// reported, not fatal, unless all do. alpha, which belongs to regressions, is left out elsewhere. What is
/// finished lies in the checkpoint, so that a killed search goes on with the next combination, to the same
/// bits. An interrupted one answers with the best so far. Throws std::invalid_argument for an option without
/// a grid, and without validation rows.
Tuned tune(const MethodInfo& method, const nlohmann::json& options, const std::vector<std::string>& names,
           const Split& split, const FitContext& context);

}  // namespace slimbayes
