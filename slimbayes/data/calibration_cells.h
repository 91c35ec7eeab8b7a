#pragma once

#include <string>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"

namespace slimbayes {

/// Returns the cell of each example in the column FitOptions::calibrate_by, which tells its calibration
/// group, as text: a category, a number as cell_text() writes it, "true" or "false", a time; nullopt if it is
/// missing. Of a window it is the cell of the last row that it sees. [n] Throws std::invalid_argument for
/// images, and if the table has no such column; the message says why it is needed.
std::vector<GroupCell> calibration_cells(const Examples& examples, const FitOptions& options);

/// Returns whether the examples have that column.
bool have_calibration_cells(const Examples& examples, const FitOptions& options);

/// Returns the kind of the column FitOptions::calibrate_by. Throws as calibration_cells().
ColumnKind calibration_kind(const Examples& examples, const FitOptions& options);

/// Checks that the table has the column of FitOptions::calibrate_by, if the options name one. Throws
/// std::invalid_argument.
void check_calibrate_by(const Table& table, const FitOptions& options);

/// Returns the text of a group in messages: its cell in quotes, or "missing".
std::string text_of(const GroupCell& cell);

}  // namespace slimbayes
