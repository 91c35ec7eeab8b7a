#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/task.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

struct ColumnStatistics;  // encoding/column_statistics.h

/// Throws DataError for a target in this row that does not lie within the bounds, or that lies at one of
/// them, where its transform is infinite.
void check_within(const Table& table, const Column& column, int64_t row, const TargetBounds& bounds);

/// Checks the targets of these training rows, none of which is missing. Throws DataError for the first one
/// beyond the bounds, and std::invalid_argument if some lie at a bound, with their number.
void check_training_within(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                           const TargetBounds& bounds);

/// Throws std::invalid_argument unless the range of all training targets of a streamed table lies within the
/// bounds.
void check_range_within(const ColumnStatistics& all, const std::string& target, const TargetBounds& bounds);

/// Returns the column of a target without bounds: TargetBounds::unbounded of each cell.
Column unbounded_column(const Column& column, const TargetBounds& bounds);

}  // namespace slimbayes
