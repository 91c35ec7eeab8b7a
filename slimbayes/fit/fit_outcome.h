#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/export.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/model/model.h"
#include "slimbayes/train/callback.h"

namespace slimbayes {

struct FitData;  // fit/fit_data.h

/// The result of a fit: the fitted model, its held-out reports, and whether the fit was interrupted.
struct FitOutcome {
  std::optional<Model> model;  // absent if the fit was interrupted before there was a model worth keeping
  /// Model::evaluate of the held-out examples; empty if there are none or the fit was interrupted.
  std::optional<Evaluation> valid = {}, test = {};
  std::vector<std::string> notes;
  bool interrupted = false;
};

/// Evaluates the model in `out` on the validation and test examples, with intervals at `level`, and adds the
/// reports and the resulting notes to `out`. An interrupted fit gets notes, but no reports.
SLIMBAYES_EXPORT void score_held_out(FitOutcome& out, const FitData& data, double level);

/// Fits a model without writing a file; use FitFile to write one and to lose no work on a kill. `examples`
/// are the windows of a time series, not its table; `valid` is separate validation data or nullptr; `notes`
/// are notes on the data, which the outcome's notes begin with. `callback` receives progress and the notes
/// that are known before the training, and decides when to stop. A fit that is stopped before it has any
/// validated parameters (or, without validation rows, any steps) has no model. Throws as fit_resolved.
SLIMBAYES_EXPORT FitOutcome fit_in_memory(const ResolvedFit& request, const Examples& examples,
                                          const Examples* valid, const std::vector<std::string>& notes,
                                          Callback& callback);

}  // namespace slimbayes
