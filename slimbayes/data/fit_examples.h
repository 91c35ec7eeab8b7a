#pragma once

#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/split/split.h"
#include "slimbayes/export.h"

namespace slimbayes {

// These functions apply FitOptions to the examples of a fit: they check the examples, turn a table into
// windows where the options ask for it, and split the examples into parts.

/// Returns the part of the fit's options that describes windows: their length, their horizon, the time and
/// group columns, and whether gaps are filled.
SLIMBAYES_EXPORT WindowOptions window_options(const FitOptions& options);

/// Checks that the options suit the examples. Throws std::invalid_argument if the options ask for another
/// kind of input (windows, text, images) than the examples are, set an option of another kind of input, name
/// a text column that the table lacks, or shift images (FitOptions::crop) by their whole side or more.
SLIMBAYES_EXPORT void check_examples(const Examples& examples, const FitOptions& options);

/// Returns the columns that a fit with these options predicts: FitOptions::target itself if the table has a
/// column of exactly this name or the text has no comma, else the names of the comma-separated list. Does not
/// check that the columns exist (check_targets_of in fit/joint_fit.h does). Empty if no target is named.
SLIMBAYES_EXPORT std::vector<std::string> targets_of(const FitOptions& options, const Table& table);

/// Checks the options on the target, and that a table has a column of this name that can be a target
/// (check_target_column in encoding/target_cells.h). Throws std::invalid_argument.
SLIMBAYES_EXPORT void check_target(const Examples& examples, const FitOptions& options);

/// Returns the examples in the form that the options ask for, after check_examples and check_target. If the
/// options ask for windows, a table becomes its windows whose target is in the table; other examples are
/// returned unchanged. Examples from read_training (model/data_file.h) have this form. Throws as the checks
/// and as find_windows.
SLIMBAYES_EXPORT Examples examples_of(Examples given, const FitOptions& options);

/// Returns what one example is in a fit with these options: an image, a row, a window or a text.
SLIMBAYES_EXPORT InputKind kind_asked(const Examples& examples, const FitOptions& options);

/// Returns the table behind the examples; for windows, the table of their series; nullptr for images.
SLIMBAYES_EXPORT const Table* table_of(const Examples& examples);

/// Splits the examples into training, validation, calibration and test parts: windows by their time
/// (split_windows), rows with the split "time" by theirs (split_by_time), other examples at random
/// (split_rows).
SLIMBAYES_EXPORT SplitRows split_examples(const Examples& examples, const FitOptions& options);

/// Returns the groups of examples that split_examples deals as a whole: normally the examples with identical
/// inputs (see row_groups). Each window is its own group.
SLIMBAYES_EXPORT RowGroups groups_of(const Examples& examples, const FitOptions& options);

}  // namespace slimbayes
