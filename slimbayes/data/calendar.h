#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/data/windows.h"

namespace slimbayes {

// Features of the calendar: the hour of the day, the day of the week and the day of the year as a sine and a
// cosine each, so that midnight lies beside 23:00.

/// Returns the periods, in seconds, that a forecast can use: a step is at most a quarter of the period, and
/// the rows at these places (training rows of all series) span it. Empty unless the times are dates.
std::vector<double> calendar_periods(const Windows& windows, const std::vector<int64_t>& places);

/// Returns whether a model file may hold this list of periods: days, weeks and years, ascending.
bool are_calendar_periods(const std::vector<double>& periods);

/// Returns the names of the features, two for each period.
std::vector<std::string> calendar_names(const std::vector<double>& periods);

/// Returns the values of the features [n, 1], in the order of their names. time [n], seconds since 1970.
std::vector<at::Tensor> calendar_features(const at::Tensor& time, const std::vector<double>& periods);

}  // namespace slimbayes
