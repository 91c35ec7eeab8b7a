#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "slimbayes/explain/column_groups.h"
#include "slimbayes/explain/explain_report.h"

namespace slimbayes {

struct ImportanceOptions {
  int64_t repeats = 5;                        // permutations of each group, at least 1
  std::function<void(double)> progress = {};  // takes the share of the work that is done
};

/// Returns the importance of each group of columns: the rise of the NLL, and of the RMSE or the fall of the
/// accuracy, if the rows have targets, and in any case how much the answers change (GroupImportance). The
/// order is that of the rise of the NLL, else that of the change of the mean, the largest first.
///
/// The change of the mean is E (m' - m)^2 / var(m). If the columns are independent, half of it is Jansen's
/// estimate of the total Sobol index (Jansen 1999): a column on which the mean alone depends has 2. Rows
/// whose permuted cells have no finite answer are left out of a comparison.
///
/// Permutations are seeded by the names of the columns and the number of the repeat, so that a group has the
/// same importance whatever other groups there are. Throws std::invalid_argument for a column that the model
/// does not use and fewer than one repeat.
std::vector<GroupImportance> group_importance(const ExplainedRows& rows,
                                              const std::vector<ColumnGroup>& groups,
                                              const ImportanceOptions& options = {});

}  // namespace slimbayes
