#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns the scores of two forecasts without a model on these windows, whose targets must be in the table.
/// Compare the model's `answer` with them to see what the model is worth. The JSON object has the keys
///   persistence           the forecast is the last known target that the window sees
///   seasonal_persistence  the forecast is the target one season before the time to predict. The season is a
///                         day or, if no window has a value a day before, a week
/// A forecast that has no value for any window is absent. seasonal_persistence is also absent if the times
/// are not calendar times, or if neither a day nor a week is a whole number of steps that is at least two and
/// at least the horizon.
///
/// Each entry has `n`, the number of windows for which the forecast has a value; its mae and rmse in the
/// target's units for numbers and counts (for numbers also with the suffix _standardized), or its accuracy
/// for classes; and `model_mae` or `model_accuracy`, the model's score on the same windows.
/// seasonal_persistence also has `season`, its length as text, such as "24 steps".
nlohmann::json persistence_report(const InputEncoder& encoder, const WindowTable& windows,
                                  const Predictive& answer);

/// Returns a note for each forecast in persistence_report() that is at least as good as the model, by MAE or
/// accuracy, on ten windows or more. `report` is a report of Model::evaluate. `where` names its windows in
/// the note: "the 73 test windows".
std::vector<std::string> persistence_notes(const nlohmann::json& report, const std::string& where);

/// Returns the words for the windows of a report, such as "the 73 test windows", for persistence_notes.
/// `part` is "validation", "test" or, if the report is on no part of a fit, "".
std::string windows_of_part(const nlohmann::json& report, const std::string& part);

}  // namespace slimbayes
