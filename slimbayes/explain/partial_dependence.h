#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "slimbayes/explain/explain_report.h"
#include "slimbayes/explain/explained_rows.h"

namespace slimbayes {

struct PartialOptions {
  int64_t rows = 500;                         // rows over which a point is averaged, evenly spaced
  int64_t points = 20;                        // values of a column of numbers or times, at least 2
  int64_t levels = 30;                        // values of a categorical column, the most frequent ones
  std::function<void(double)> progress = {};  // takes the share of the work that is done
};

/// Throws std::invalid_argument for windows, whose rows have a column many times.
void check_has_curves(const ExplainedRows& rows);

/// Returns the partial dependence of the answers on a column of a table (Friedman 2001, section 8.2): at each
/// value of a grid the mean answer over the rows if all of them had this value. The grid of numbers and times
/// holds the different cells of the column if they are at most `points`, else so many of its quantiles, each
/// a cell that occurs; that of categories the levels that occur. Standard deviations are roots of mean
/// variances. Rows that have no finite answer at a value are left out there (PartialPoint::rows).
///
/// A note names the columns that go together with this one (association() above kAssociated): the average
/// then holds combinations that the data do not have. Throws as check_has_curves(), and
/// std::invalid_argument for a column that the model does not use and one without a value.
PartialDependence partial_dependence(const ExplainedRows& rows, const std::string& column,
                                     const PartialOptions& options = {});

}  // namespace slimbayes
