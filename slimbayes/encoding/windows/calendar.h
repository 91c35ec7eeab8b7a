#pragma once

#include <span>
#include <string>
#include <vector>

#include "slimbayes/encoding/windows/windows.h"

namespace slimbayes {

// Calendar features of a time: its position within the day, the week and the year. Each position is encoded
// as a sine and a cosine, so that midnight has nearly the same values as 23:00.

/// Returns which of the periods day, week and year (in seconds, ascending) a model of these windows can use.
/// A period needs at least four steps, and the training rows must span it at least once. `places` are the
/// indices of the training rows, of all series, in Windows::order. Returns {} if the times are not dates.
std::vector<double> calendar_periods(const Windows& windows, const std::vector<int64_t>& places);

/// Returns whether a list of periods from a model file is valid: it holds only the lengths of a day, a week
/// and a year in seconds, in ascending order. An empty list is valid.
bool are_calendar_periods(const std::vector<double>& periods);

/// Returns the names of the features of calendar_features: two for each period, such as "sine of the hour of
/// the day" and "cosine of the hour of the day".
std::vector<std::string> calendar_names(const std::vector<double>& periods);

/// Writes the features of a time to `out`: for each period a sine and a cosine, in the order of
/// calendar_names. `time` is in seconds since 1970; `out` has two numbers for each period.
void calendar_features(double time, const std::vector<double>& periods, std::span<float> out);

}  // namespace slimbayes
