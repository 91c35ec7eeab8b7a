#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Returns the kind of task of a target; without a likelihood the column decides. Throws
/// std::invalid_argument.
TaskKind task_kind(const Table& table, const std::string& target, std::optional<LikelihoodKind> likelihood);

/// The target column of a fit, and how it is read.
struct TargetOptions {
  std::string name;                               // of the column
  std::optional<LikelihoodKind> likelihood = {};  // empty: the column decides
  std::string scale = "standard";                 // of a regression: "standard" or "centred"
};

/// Fits the task of a target column on these training rows. Without a likelihood the column decides: text and
/// booleans are classes (bernoulli for two, softmax for more); numbers are two classes if the column holds
/// only two different whole numbers, each in at least two rows; other numbers are a regression. With a
/// likelihood of classes, any numbers are classes. The names of the classes come from every row,
/// sorted (numbers by value); each class needs two rows, and at least one of them among the training rows.
/// The scale "standard" divides the centred target of a regression by its sd, "centred" does not. Throws
/// std::invalid_argument for a column, a likelihood or a scale that do not fit, or a regression whose targets
/// have an sd outside 1e-140 to 1e140 (0 is allowed). Throws DataError for a training cell that is missing,
/// infinite, or a negative or fractional count, and, for any row, as check_standardised.
Task fit_task(const Table& table, const std::vector<int64_t>& rows, const TargetOptions& options);

/// Throws DataError for a row whose target lies more than 1e18 training sds (1e18 itself if the target is
/// not scaled) from the training mean: its square would overflow the float32 of training. Rows without a
/// target pass, and so do other tasks than regression.
void check_standardised(const Table& table, const std::string& target, const Task& task);

/// Returns a sentence that says that two whole numbers are taken as classes, for a target whose likelihood
/// the user did not name; "" for any other column.
std::string two_classes_note(const Table& table, const std::string& target);

/// Returns a sentence that suggests another likelihood for numbers that are fitted by a Gaussian, or "". Use
/// it if the user named no likelihood. It reports whole numbers that look like small counts: there are at
/// least 20 rows and three different values, the smallest value is 0 or 1, at least half of the whole numbers
/// up to the mean occur, the mean is at most 20 (a Gaussian fits larger counts), and the variance is at least
/// half the mean (that of a Poisson distribution equals the mean).
std::string likelihood_hint(const Table& table, const std::string& target, const std::vector<int64_t>& rows);

/// Returns the table without the rows that have no target: they can be used neither for training nor for
/// scores. Throws std::invalid_argument if no row has a target. A table without such a column is returned
/// unchanged.
Table with_target(Table table, const std::string& target);

/// Returns the target [n] as a method sees it: shifted and scaled, class numbers or counts, float64. Throws
/// as fit_task, and DataError for a class that was not in training.
at::Tensor target_values(const Table& table, const std::string& target, const Task& task);

}  // namespace slimbayes
