#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/core/predictive.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns the scores of two forecasts without a model on these windows, whose targets must be in the table.
/// Add them to the report of the model's `answer` to see what the model is worth. The object has
///   persistence           the last known target that the window sees
///   seasonal_persistence  the target one season before the forecast's time. The season is a day or, if a day
///                         gives no value, a week. Absent if the times are not calendar times, or each season
///                         is not a whole number of steps, or is shorter than two steps or than the horizon,
///                         or no row of the table lies one season before a forecast
/// Each has `n`, the number of windows for which it has a value; mae and rmse in the target's units for
/// numbers and counts (for numbers also with the suffix _standardized), or accuracy for classes; and
/// `model_mae` or `model_accuracy`, the model's score on the same windows. `season` is the length, such as
/// "24 steps". A forecast without any value is absent.
nlohmann::json persistence_report(const InputEncoder& encoder, const WindowTable& windows,
                                  const Predictive& answer);

/// Returns a note for each of these forecasts that is at least as good as the model, by MAE or accuracy, on
/// ten windows or more. `where` names the windows: "the 73 test windows".
std::vector<std::string> persistence_notes(const nlohmann::json& report, const std::string& where);

/// Returns the windows of a report as text: "the 73 test windows". `part` is "validation" or "test".
std::string windows_of_part(const nlohmann::json& report, const std::string& part);

}  // namespace slimbayes
