#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Sets the scores of two forecasts without a model on these windows, whose targets must be in the table.
/// Compare the model's `answer` with them to see what the model is worth.
///   persistence           the forecast is the last known target that the window sees
///   seasonal_persistence  the forecast is the target one season before the time to predict. The season is a
///                         day or, if no window has a value a day before, a week
/// A forecast that has no value for any window is absent. seasonal_persistence is also absent if the times
/// are not calendar times, or if neither a day nor a week is a whole number of steps that is at least two and
/// at least the horizon. With `weight` [m], the weights of the windows, the scores are means by them.
void add_persistence(const InputEncoder& encoder, const WindowTable& windows, const Predictive& answer,
                     Evaluation& report, const at::Tensor& weight = {});

/// Returns a note for each of these forecasts that is at least as good as the model, by MAE or accuracy, on
/// ten windows or more. `where` names the windows in the note: "the 73 test windows".
std::vector<std::string> persistence_notes(const Evaluation& report, const std::string& where);

/// Returns the words for the n windows of a report, such as "the 73 test windows", for persistence_notes.
/// `part` is "validation", "test" or, if the report is on no part of a fit, "".
std::string windows_of_part(int64_t n, const std::string& part);

}  // namespace slimbayes
