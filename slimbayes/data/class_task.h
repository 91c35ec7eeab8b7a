#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/data/task.h"

namespace slimbayes {

/// Fits the task of a target column of classes on these training rows (fit_task): the names of the classes
/// and the likelihood, bernoulli for two classes and softmax for more unless `likelihood` names one. Throws
/// std::invalid_argument for times, for numbers in another notation or beyond 2^53, for measurements, and for
/// classes with too few rows. Throws DataError for a training row without a class.
Task class_task(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                std::optional<LikelihoodKind> likelihood);

}  // namespace slimbayes
