#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slimbayes/answers/separation_report.h"

namespace slimbayes::cli {

/// Returns the part of an evaluation that says what the uncertainty is worth, as text: for classes how well
/// it tells the wrong rows, and the metrics of the most certain rows (answers/uncertainty_report.h) of `n`
/// rows. The text has four of the seven shares, and leaves out a score that is the same for all rows; --json
/// has all. `noun` is the word for one example.
std::string selective_text(const UncertaintyReport& report, int64_t n, std::string_view noun);

/// Returns how well each score tells foreign rows from the data as a text table
/// (answers/separation_report.h), one line for each score. `source` names the foreign data.
std::string separation_text(const SeparationReport& ood, const std::string& source);

}  // namespace slimbayes::cli
