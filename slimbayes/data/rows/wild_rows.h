#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/task.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Rows of a table that a fit leaves out, because a cell of the target or of an input is wrong.
struct WildRows {
  std::vector<int64_t> rows;       // ascending
  int64_t of_target = 0;           // number of them with a wild target
  std::vector<std::string> notes;  // sentences that name the cells, also those that are fitted after all
};

/// Finds these rows among `rows`. Wild are the cells of numeric and date-time inputs and of a numeric target
/// that wild_cells() finds, except where the rest of the row explains them: inputs are compared with the
/// target, and a target with the inputs (contrast_p below .001). A cluster of far targets that an input tells
/// from the others is data. So is, in a classification, a row without which fewer than two of its class
/// would remain.
/// If the inputs would leave out more than a tenth of the rows, their wild cells are marks of missing values
/// rather than errors; these rows are fitted.
/// `ignore` names the columns that are not inputs, `likelihood` is that of FitOptions. O(cells).
WildRows wild_rows(const Table& table, const std::vector<int64_t>& rows, const std::string& target,
                   const std::vector<std::string>& ignore, std::optional<LikelihoodKind> likelihood);

}  // namespace slimbayes
