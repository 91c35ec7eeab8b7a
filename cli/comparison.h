#pragma once

#include <string>
#include <vector>

#include "slimbayes/fit/comparison.h"
#include "slimbayes/fit/comparison_report.h"

namespace slimbayes::cli {

/// A note that one or more fits of a comparison gave, in the wording of the first of these fits.
struct SharedNote {
  std::string text;
  std::string of;  // the fits with this note, "dbk, dnn (2 of 5 fits)"; empty: every fit
};

/// Returns the notes of all fits, without repetition. Notes that differ only in their numbers count as one.
std::vector<SharedNote> shared_notes(const std::vector<MethodRuns>& outcomes);

/// Returns a text table with one line per method: the mean and sd of each metric over the method's seeds. The
/// best mean of a column is marked: the highest, the lowest, or for the coverage the one nearest to `level`.
/// Columns such as the width, which do not rank methods, have no mark.
/// Below the methods stand the forecasts without a model, with a dash for what they do not have.
std::string comparison_table(const std::vector<MethodRuns>& outcomes, double level);

/// Returns the methods, notes and forecasts of a comparison.
ComparisonReport comparison_report(const std::vector<MethodRuns>& outcomes);

}  // namespace slimbayes::cli
