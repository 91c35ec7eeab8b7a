#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

struct ColumnStatistics;  // encoding/column_statistics.h

/// Returns what kind of task a fit on this target column is: that of `likelihood`, or, if it is empty, the
/// one that the column suggests (see fit_task). Throws std::invalid_argument if the column does not exist or
/// holds times.
SLIMBAYES_EXPORT TaskKind task_kind(const Table& table, const std::string& target,
                                    std::optional<LikelihoodKind> likelihood);

/// The target column of a fit, and how its cells become targets.
struct TargetOptions {
  std::string name;                               // of the column
  std::optional<LikelihoodKind> likelihood = {};  // empty: the column decides, see fit_task
  std::string scale = "standard";                 // of a regression: "standard" or "centred", see fit_task
  std::span<const double> weights = {};     // of each row of the table, as EncoderOptions::weights; not owned
  std::optional<TargetBounds> bounds = {};  // of a regression
};

/// Returns the task of a target column: its likelihood, and the shift and scale or the classes, fitted on
/// these training rows.
/// If no likelihood is given, the column decides. Text and booleans are classes (bernoulli for two, softmax
/// for more). Numbers are two classes if the column holds only two different whole numbers, each in at least
/// two rows; other numbers are a regression. If the likelihood is one of classes, any numbers are classes.
/// The names of the classes come from every row of the table, sorted (numbers by value). Each class needs two
/// rows, at least one of them among the training rows. The targets of a regression are centred; with the
/// scale "standard" they are also divided by their sd, with "centred" they are not.
/// Within bounds (catalog/task.h) they are transformed before: TargetBounds::unbounded.
/// Throws std::invalid_argument for a column, a likelihood, a scale or bounds that do not fit, for training
/// targets at a bound, or a regression whose
/// targets have an sd outside 1e-140 to 1e140 (0 is allowed). Throws DataError for a training cell that is
/// missing, infinite, or a negative or fractional count, for one beyond the bounds, and, for
/// any row, as check_standardised.
/// `all` (not owned; nullptr: none) has the statistics of all training targets where `rows` are a sample.
/// Within bounds the shift and the scale are those of the sample.
SLIMBAYES_EXPORT Task fit_task(const Table& table, const std::vector<int64_t>& rows,
                               const TargetOptions& options, const ColumnStatistics* all = nullptr);

/// Checks that the targets of a regression can be trained on. Throws DataError for a row whose target lies
/// more than 1e18 training sds (with the scale "centred": more than 1e18) from the training mean, because its
/// square would overflow the float32 of training, or that does not lie within the bounds of the task. Rows
/// without a target pass, and so do other tasks than regression.
SLIMBAYES_EXPORT void check_standardised(const Table& table, const std::string& target, const Task& task);

/// Returns a sentence that tells the user that the two whole numbers of this column are taken as classes; ""
/// for any other column. Use it if the user named no likelihood.
SLIMBAYES_EXPORT std::string two_classes_note(const Table& table, const std::string& target);

/// Returns a sentence about numbers that are fitted by a Gaussian although another likelihood may suit them
/// better; "" if nothing suggests so. `rows` are the training rows. Use it if the user named no likelihood.
/// All numbers must be whole and at least 0. There are two cases:
/// - There are two different numbers, one of them in a single row: they may be classes, but a class needs two
///   rows.
/// - The numbers look like small counts: there are at least 20 rows and three different values; the smallest
///   is 0 or 1; at least half of the whole numbers from the smallest value to the mean occur; the mean is at
///   most 20 (larger counts are nearly Gaussian); and the variance is at least half the mean (in a Poisson
///   distribution both are equal).
SLIMBAYES_EXPORT std::string likelihood_hint(const Table& table, const std::string& target,
                                             const std::vector<int64_t>& rows);

/// Returns the table without the rows in which the target is missing, because such rows can be neither
/// trained on nor scored. A table without a column `target` is returned unchanged. Throws
/// std::invalid_argument if no row has a target.
SLIMBAYES_EXPORT Table with_target(Table table, const std::string& target);

/// Returns the targets [n] as a method is trained on them: shifted and scaled numbers, class numbers, or
/// counts. Throws as fit_task, and DataError for a class that was not in training.
SLIMBAYES_EXPORT std::vector<double> target_values(const Table& table, const std::string& target,
                                                   const Task& task);

}  // namespace slimbayes
