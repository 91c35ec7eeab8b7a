#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/split/split.h"

namespace slimbayes {

/// Splits the rows of a table by time: the earliest are for training, then follow the validation, calibration
/// and test parts, each with its share of all rows (SplitOptions). Rows of one time stay in one part, the
/// later one, which may be larger for it. `time`: the columns that give the times (times_of_rows); empty: the
/// only column of dates. A note says where each part begins. With SplitOptions::without_wild_times, rows
/// whose time lies far beyond all others (wild_cells, a jump of 10 or more) are in no part, and a note names
/// them: a year 2206 for 2026 would else be the newest test row.
/// Throws std::invalid_argument as split_rows, for folds, without `time` unless one column alone has dates,
/// and if there are too few different times for the parts; DataError for a missing time.
SplitRows split_by_time(const Table& table, const std::vector<std::string>& time,
                        const SplitOptions& options);

}  // namespace slimbayes
