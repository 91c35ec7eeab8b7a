#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "slimbayes/report/importance.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns how the standardised residuals (y - mean) / sd depend on the columns of the largest importance, at
/// most six: a list of JSON objects with `column`, `kind` and
///   points  of numbers and times: lists x and z of at most 500 rows
///   parts   rows in about ten groups of equal size, ascending in x (of categories at most 12 levels, the
///           most frequent first): x, the mean of the column (or `level`), rows, mean and sd of z
///   says    a sentence on the group whose mean is least probable by chance
/// Only for numbers and counts.
nlohmann::json residual_facts(const ScoredExamples& s, const std::vector<ColumnImportance>& importance);

/// Returns the rows that surprise the model most, at most ten, as a JSON object with a sentence `says` and
/// `rows`, a list of JSON objects: `row`, the number in the file, target, `tail`, the probability of a target
/// that is at least as far out (of classes: of the true class), sorted by it, and of numbers and counts mean,
/// sd, lower, upper and z = (y - mean) / sd, of classes `answer` with its `probability`. `unusual` has the
/// numeric input column whose cell lies farthest from the training mean: column, value, and `sds`, how many
/// training sds; absent without such columns.
nlohmann::json surprising_rows(const ScoredExamples& s);

}  // namespace slimbayes
