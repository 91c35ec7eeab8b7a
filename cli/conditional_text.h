#pragma once

#include <string>

#include "slimbayes/model/conditional/conditional_report.h"

namespace slimbayes::cli {

/// Returns the part of an evaluation on the coverage in parts of the rows as text tables: by the width of the
/// interval, for each column of --by its groups, at most 30 of them (--json has all), and what --conditional
/// estimates. `level` is the level
/// of the intervals. "" for an empty report.
std::string conditional_text(const ConditionalReport& report, double level);

}  // namespace slimbayes::cli
