#pragma once

#include <optional>

#include "slimbayes/report/row_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the forecasts of numbers or counts beside what happened, for windows; nothing for other examples
/// and for classes.
std::optional<ForecastFact> forecast_facts(const ScoredExamples& s);

}  // namespace slimbayes
