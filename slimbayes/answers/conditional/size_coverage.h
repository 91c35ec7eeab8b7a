#pragma once

#include <optional>

#include "slimbayes/answers/conditional/row_scores.h"
#include "slimbayes/answers/metrics.h"

namespace slimbayes {

/// Returns the coverage of intervals of this level in five bins of the rows by the width of their interval
/// (quantile_bins); nothing for fewer than 50 rows, or if the rows have no intervals: sets of classes have
/// whole sizes, which few values share. Use it to see whether the width tells where the model errs: too
/// narrow intervals among the narrow ones, and too wide ones among the wide, say that it does not. Widths
/// that are equal but for rounding are one bin. Throws std::invalid_argument unless 0 < level < 1.
std::optional<SizeCoverage> coverage_by_size(const RowScores& scores, double level);

}  // namespace slimbayes
