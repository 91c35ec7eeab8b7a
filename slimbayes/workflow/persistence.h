#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/core/predictive.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns what two forecasts without a model score on these windows, whose targets are in the table: an
/// object to be added to the report of the model's `answer` to them. It has
///   persistence           the last known target that the window sees
///   seasonal_persistence  the target one season before the forecast's time: a day or, where that gives no
///                         value, a week; absent if the times are no calendar times, or each season is no
///                         whole number of steps, shorter than two steps or than the horizon, or no row of
///                         the table lies one season before a forecast
/// Each has `n`, the windows for which it has a value, and of numbers and counts mae and rmse in the target's
/// units (of numbers also with the suffix _standardized), of classes the accuracy. `model_mae` or
/// `model_accuracy` is the model's on the same windows. `season` is its length, such as "24 steps". A
/// forecast without any value is absent.
nlohmann::json persistence_report(const InputEncoder& encoder, const WindowTable& windows,
                                  const Predictive& answer);

/// Returns a note for each of these forecasts than which the model is no better by its MAE or accuracy, on
/// ten windows or more. `where` tells the windows: "the 73 test windows".
std::vector<std::string> persistence_notes(const nlohmann::json& report, const std::string& where);

/// Returns "validation" or "test" with the number of windows of a report: "the 73 test windows".
std::string windows_of_part(const nlohmann::json& report, const std::string& part);

}  // namespace slimbayes
