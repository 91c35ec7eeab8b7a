#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes {

struct ColumnStatistics;  // encoding/column_statistics.h

/// Returns the classification task of a target column: the names of its classes, and the likelihood. The
/// likelihood is `likelihood` if it is given, else bernoulli for two classes and softmax for more. `rows` are
/// the training rows. fit_task calls this for targets that are classes.
/// Throws std::invalid_argument if the column cannot hold class labels: it holds times, numbers in another
/// notation (1,000), integers beyond 2^53, or measurements (more than ten different numbers, at least half of
/// which occur once). It also throws if there are fewer than two or more than 1,000 classes, if bernoulli is
/// given for more than two classes, or if a class has fewer than two rows or none in `rows`. Throws DataError
/// for a training row without a class. `all` as in fit_task.
Task class_task(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                std::optional<LikelihoodKind> likelihood, const ColumnStatistics* all = nullptr);

}  // namespace slimbayes
