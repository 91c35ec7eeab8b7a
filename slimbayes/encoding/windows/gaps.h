#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/windows/time_series.h"

namespace slimbayes {

/// A gap in a time series: two successive rows of one series whose times are not one step apart.
struct Gap {
  int64_t place;    // index in TimeSeries::order of the row after the gap
  int64_t missing;  // number of rows that would fill the gap; 0 if it cannot be filled
};

/// Returns all gaps of the series, ascending by place. A gap can be filled if its two rows are a whole number
/// of steps apart and fewer than `window` rows are missing: in a longer gap a window would see inserted rows
/// only. If all gaps together need more than ten rows for each row of the table, none can be filled, because
/// a single wrong time could otherwise insert millions of rows. O(rows).
std::vector<Gap> gaps_of(const TimeSeries& series, int64_t window);

/// Returns the series with an additional entry for each missing row of these gaps. In TimeSeries::order, the
/// entries have the indices n, n + 1, ... of rows that do not exist yet; fill_gaps then appends them to the
/// table of n rows.
TimeSeries with_steps(const TimeSeries& series, const std::vector<Gap>& gaps);

/// Inserts the missing rows of every gap that can be filled: appends the rows to the table and adds them to
/// the series in the order of time. In an inserted row the group columns are filled; all other cells, the
/// time column too, are missing. Its time is stored in TimeSeries::time only. Error messages show the number
/// of the row before the gap for it (row_number). If it inserts rows, it adds a note to `series.notes`.
/// O(rows).
void fill_gaps(Table& table, TimeSeries& series, const WindowOptions& options);

/// Returns a copy of the table in which each missing cell of these columns is replaced by the last known cell
/// before it in the same run (a sequence of rows of one series without a gap). Cells before the first known
/// one stay missing. O(cells).
Table carried(const Table& table, const TimeSeries& series, const std::vector<std::string>& columns);

/// Returns a phrase on where these gaps are, for a note: after which time the first gap lies and, if there
/// are groups, in which series most gaps lie. Example: "the first is after 2020-01-02T05:00:00, most are in
/// city 'rome' (3)". `gaps` must not be empty.
std::string where_text(const Table& table, const TimeSeries& series, const WindowOptions& options,
                       const std::vector<Gap>& gaps);

}  // namespace slimbayes
