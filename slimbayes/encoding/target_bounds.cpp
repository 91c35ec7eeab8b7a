#include "slimbayes/encoding/target_bounds.h"

#include <fmt/format.h>

#include <cmath>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/column_statistics.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

constexpr const char* kAtBound =
    "at a bound the transform of the target is infinite: widen `.bounds`, or leave "
    "such rows out";

std::string wanted(const std::string& target, const TargetBounds& bounds) {
  return fmt::format("a target {} {} (`.bounds`)", in_quotes(target), bounds.in_words());
}

}  // namespace

void check_within(const Table& table, const Column& column, int64_t row, const TargetBounds& bounds) {
  const double value = column.values[static_cast<size_t>(row)];
  if (bounds.holds(value)) return;
  throw_bad_cell(table, row,
                 fmt::format("expected {}; received {}; {}", wanted(column.name, bounds), value,
                             bounds.at_end(value) ? kAtBound : "correct or remove the row"));
}

void check_training_within(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                           const TargetBounds& bounds) {
  int64_t at_end = 0, first = -1;
  for (const int64_t row : rows) {
    const double value = column.values[static_cast<size_t>(row)];
    if (bounds.at_end(value)) {
      if (at_end++ == 0) first = row;
    } else if (!bounds.holds(value)) {
      throw_bad_cell(table, row,
                     fmt::format("expected {}; received {}; widen `.bounds`, or correct or remove the row",
                                 wanted(column.name, bounds), value));
    }
  }
  if (at_end > 0)
    refuse("target", wanted(column.name, bounds),
           fmt::format("{} of {} exactly at a bound, the first in {}", at_end,
                       counted(std::ssize(rows), "training row"), row_place(table, first)),
           kAtBound);
}

void check_range_within(const ColumnStatistics& all, const std::string& target, const TargetBounds& bounds) {
  if (all.present == 0 || (bounds.holds(all.low) && bounds.holds(all.high))) return;
  refuse("target", wanted(target, bounds),
         fmt::format("targets from {} to {} over all training rows", all.low, all.high), kAtBound);
}

Column unbounded_column(const Column& column, const TargetBounds& bounds) {
  Column out{column.name, ColumnKind::numeric, column.values, {}};
  for (double& value : out.values)
    if (!std::isnan(value)) value = bounds.unbounded(value);
  return out;
}

}  // namespace slimbayes
