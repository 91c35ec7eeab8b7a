#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
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

/// Checks the options on the target, that a table has a column of this name that can be a target
/// (check_target_column in encoding/target_cells.h), and its column of weights. Throws
/// std::invalid_argument.
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

/// Checks that the table has the column of FitOptions::weights, if the options name one, and that it holds
/// numbers. Throws std::invalid_argument.
SLIMBAYES_EXPORT void check_weights_column(const Table& table, const FitOptions& options);

/// Has the column of FitOptions::weights, if the options name one, read as numbers.
SLIMBAYES_EXPORT void add_weights(Reading& reading, const FitOptions& options);

/// Returns the weight of each example as the column FitOptions::weights gives it, [n] float64 from 0 on; of a
/// window that of the row that it predicts. Undefined without the option. Throws std::invalid_argument as
/// check_weights_column, for images, and if all weights are 0; DataError, naming the row, for a weight that
/// is missing, negative or above kLargestWeight.
SLIMBAYES_EXPORT at::Tensor row_weights(const Examples& examples, const FitOptions& options);

/// Returns the number by which a fit divides the weights of all its examples, given the `weights` [n] of the
/// training examples, each above 0: their mean for weights of importance, so that they sum to n; 1 for
/// counts. If all are equal, it is that weight, so that each becomes 1 without rounding.
SLIMBAYES_EXPORT double weight_scale(const at::Tensor& weights, const FitOptions& options);

/// Returns the weights by which a model that was fitted with these options scores the examples, as the column
/// gives them, [n] float64: no weighted mean depends on their scale. Undefined if every example counts once:
/// without the option, without its column in the data, and where all are 1. Throws as row_weights otherwise.
SLIMBAYES_EXPORT at::Tensor scored_weights(const Examples& examples, const FitOptions& options);

/// The examples with a weight above 0.
struct PositiveExamples {
  std::optional<Examples> some = {};  // empty: all of the examples given
  std::vector<int64_t> places = {};   // their indices in the examples given, ascending; empty if `some` is
};

/// Returns the examples whose weight (row_weights) is above 0. Those of weight 0 are in no part of a fit.
/// Throws as row_weights.
SLIMBAYES_EXPORT PositiveExamples positive_examples(const Examples& examples, const FitOptions& options);

/// Returns the examples that a model which was fitted with these options scores: those with a weight above 0,
/// or all if the data lack the column. Throws as row_weights otherwise.
SLIMBAYES_EXPORT PositiveExamples scored_examples(const Examples& examples, const FitOptions& options);

/// Returns a sentence on whether scores of these examples are weighted, for a model that was fitted with
/// weights; "" for another model.
SLIMBAYES_EXPORT std::string scored_weights_note(const Examples& examples, const FitOptions& options);

}  // namespace slimbayes
