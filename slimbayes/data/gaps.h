#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/data/time_series.h"

namespace slimbayes {

/// Two successive rows of one series that are not one step apart.
struct Gap {
  int64_t place;    // place of the row after the gap
  int64_t missing;  // rows that would fill it; 0 if it cannot be filled
};

/// Returns all gaps of the series as it is, in the order of their places. A gap can be filled if its rows are
/// a whole number of steps apart and fewer than `window` rows are missing: in a longer gap a window would see
/// no row of the table. One wrong time could insert millions of rows, so no gap can be filled if all gaps
/// together need more than ten rows for each row of the table. O(rows).
std::vector<Gap> gaps_of(const TimeSeries& series, int64_t window);

/// Returns the series with a place for each missing row of these gaps. In `order`, these places refer to the
/// rows that fill_gaps appends to the table.
TimeSeries with_steps(const TimeSeries& series, const std::vector<Gap>& gaps);

/// Fills the gaps that can be filled: appends the missing rows to the table and gives them places in the
/// series. An inserted row has the cells of its group; its time stands in TimeSeries::time, and all other
/// cells are missing. Its row_number is that of the row before the gap. Adds a note. O(rows).
void fill_gaps(Table& table, TimeSeries& series, const WindowOptions& options);

/// Returns the table after replacing each missing cell of these columns by the last known cell before it in
/// the same run (a sequence of rows without a gap). Cells before the first known one stay missing. O(cells).
Table carried(const Table& table, const TimeSeries& series, const std::vector<std::string>& columns);

/// Describes where these gaps are, for a note: the time of the first one and, with groups, the series with
/// most gaps: "the first is after 2020-01-02T05:00:00, most are in city 'rome' (3)". `gaps` must not be
/// empty.
std::string where_text(const Table& table, const TimeSeries& series, const WindowOptions& options,
                       const std::vector<Gap>& gaps);

}  // namespace slimbayes
