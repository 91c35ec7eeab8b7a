#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the forecasts of numbers or counts beside what happened, for windows, as a JSON object:
/// `calendar`, whether times are seconds since 1970; `step`, the time from row to row; `horizon` in rows;
/// `series`, a list of at most 4, those with most windows first, each with `name` (the cells of its group
/// columns, or ""), lists time, actual, mean, lower, upper of its last 300 windows, and `inside`, the share
/// of these in their interval; `says`, a sentence. null for other examples and for classes.
nlohmann::json forecast_facts(const ScoredExamples& s);

}  // namespace slimbayes
