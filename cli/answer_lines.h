#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/request.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/model.h"

namespace slimbayes::cli {

// The lines that `predict` writes, of models of one target and of several.

/// Returns the levels of the intervals. Throws std::invalid_argument if a level is given twice, because two
/// columns of the output would have the same name.
std::vector<double> levels_of(const PredictRequest& request);

/// Returns the column "row": the number of each of these examples in its file, from 1, as messages have it;
/// of a window that of the last row that it sees.
Column row_numbers(const Examples& all, const std::vector<int64_t>& places);

/// Puts the column of row numbers before the others.
void add_numbers(std::optional<Column> numbers, AnswerTable& answer);

/// Reads a kept target as the kind that it had in the fit, so that JSON has its numbers as numbers: without
/// --split the target is not needed, so that its cells were read as texts. It stays text if a cell cannot be
/// read so.
void read_target(Table& answer, const Model& model);

}  // namespace slimbayes::cli
