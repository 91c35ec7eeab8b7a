#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/data/time_series.h"

namespace slimbayes {

/// Two successive rows of one series that are not one step apart.
struct Gap {
  int64_t place;    // of the row after it
  int64_t missing;  // steps between the rows; 0 unless they are a whole number below the size of a window
};

/// Returns every gap of rows that fill_gaps has not filled, in the order of their places. A gap of `window`
/// missing steps or more counts as one that cannot be filled: a window within it would see no row of the
/// table, and one wild time would insert any number of rows. If the missing steps of all gaps are more than
/// ten for each row, none can be filled. O(rows).
std::vector<Gap> gaps_of(const TimeSeries& series, int64_t window);

/// Returns the series with a place for each missing step of these gaps. Their rows in `order` are those that
/// fill_gaps appends to the table.
TimeSeries with_steps(const TimeSeries& series, const std::vector<Gap>& gaps);

/// Inserts a row for each missing step of the gaps that can be filled: appends it to the table and places it
/// in the series. An inserted row has the group's cells, its time in TimeSeries::time, and no other cell; its
/// row_number is that of the row before the gap. Adds a note. O(rows).
void fill_gaps(Table& table, TimeSeries& series, const WindowOptions& options);

/// Returns the table with each missing cell of these columns replaced by the last known one before it in its
/// run, which is a sequence of rows without a gap. Cells before the first known one stay missing. O(cells).
Table carried(const Table& table, const TimeSeries& series, const std::vector<std::string>& columns);

/// Returns when the first of these gaps is, and, with groups, which series has the most: "the first is after
/// 2020-01-02T05:00:00, most are in city 'rome' (3)". `gaps` must not be empty.
std::string where_text(const Table& table, const TimeSeries& series, const WindowOptions& options,
                       const std::vector<Gap>& gaps);

}  // namespace slimbayes
