#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/explain/explain_report.h"

namespace slimbayes::cli {

/// Returns the importance as a text table, one line for each group of columns, at most thirty, and the curve
/// of each column below it. `noun` is the word for one example.
std::string explain_text(const ExplainReport& report, const std::string& noun);

/// Returns the importance as a table with one line for each group: its name, and each number with its
/// standard error. A number that is not defined is a missing cell; one that no group has, no column.
Table importance_columns(const std::vector<GroupImportance>& importance);

/// Returns the curves as one table, one line for each point: "column", "value" (of numbers alone as numbers,
/// else as text), "rows", and the mean answer, of classes p_CLASS for each class.
Table curves_table(const std::vector<PartialDependence>& curves);

}  // namespace slimbayes::cli
