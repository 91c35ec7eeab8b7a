#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

/// The task that a target asks for; without a likelihood the column decides. Throws std::invalid_argument.
TaskKind task_kind(const Table& table, const std::string& target, std::optional<LikelihoodKind> likelihood);

/// The task of a target column, learnt from these training rows. Without a likelihood the column decides:
/// text and booleans are classes (bernoulli of two, softmax of more), numbers a regression. Numbers are
/// classes where a likelihood of classes is asked for. The names of the classes come from every row, sorted,
/// numbers by value; each class needs two rows and one of the training rows. Throws std::invalid_argument for
/// a column or a likelihood that do not fit, or a regression whose targets' sd lies outside 1e-140 to 1e140
/// (0 is fine), DataError for a cell (missing, infinite, a negative or fractional count; check_standardised,
/// of every row).
Task fit_task(const Table& table, const std::vector<int64_t>& rows, const std::string& target,
              std::optional<LikelihoodKind> likelihood);

/// Throws DataError for a row whose target lies over 1e18 of the training sds from their mean: its square
/// overflows the float32 of training. Rows without a target pass.
void check_standardised(const Table& table, const std::string& target, const Task& task);

/// Where numbers that are fitted by their Gaussian look like two classes (0 and 1 alone) or like small
/// counts: the sentence that says so; else empty. Counts: whole numbers from 0 or 1 on, three or more, most
/// of those up to their mean, which is at most 20 (above it a Gaussian serves), with a variance of at least
/// half the mean (a Poisson's is the mean), in 20 rows or more.
std::string likelihood_hint(const Table& table, const std::string& target, const std::vector<int64_t>& rows);

/// The table without the rows that have no target: nothing can be learnt from them, or scored on them. Throws
/// std::invalid_argument when no row has one; a table without such a column comes back as it is.
Table with_target(Table table, const std::string& target);

/// The target as a method sees it: standardised, class numbers or counts, float64. [n] Throws as fit_task,
/// and for a class that was not there in training.
at::Tensor target_values(const Table& table, const std::string& target, const Task& task);

}  // namespace slimbayes
