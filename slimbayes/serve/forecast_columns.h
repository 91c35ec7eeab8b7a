#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/task.h"
#include "slimbayes/encoding/windows/window_table.h"

namespace slimbayes {

/// Returns the column "last_time": the time of the last row of each window.
Column last_time(const WindowTable& w);

/// Returns the columns that identify each forecast: those of WindowOptions::group, read from `last`, the last
/// row of each window; "forecast_time", the time of the predicted row; and "actual", the target of that row,
/// if the table has any.
std::vector<Column> forecast_columns(const WindowTable& w, const Table& last, const std::string& target,
                                     const Task& task);

/// Returns whether a column of these functions has this name.
bool is_forecast_name(const std::string& name);

}  // namespace slimbayes
