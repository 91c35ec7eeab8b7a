#pragma once

#include <string>
#include <vector>

#include "slimbayes/explain/explain_report.h"
#include "slimbayes/explain/explained_rows.h"

namespace slimbayes {

/// What explain() is asked for.
struct ExplainAsked {
  ExplainOptions rows = {};                           // its progress goes over the whole work
  std::vector<std::vector<std::string>> groups = {};  // columns that are permuted together
  bool auto_groups = false;                           // associated_groups() in place of `groups`
  int64_t repeats = 5;                                // permutations of each group
  std::vector<std::string> columns = {};              // whose partial dependence is computed
  bool importance = true;                             // whether the importance is computed
};

/// Returns the importance of the columns, or groups of them, and the partial dependence of the answers on the
/// columns of the request, with sentences on what to read them by. Throws std::invalid_argument for a column
/// that is asked for twice and as explained_rows(), given_groups(), group_importance() and
/// partial_dependence().
ExplainReport explain(const Model& model, const Examples& examples, const ExplainAsked& asked = {});

}  // namespace slimbayes
