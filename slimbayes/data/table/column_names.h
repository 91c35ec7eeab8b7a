#pragma once

#include <span>
#include <string>
#include <vector>

namespace slimbayes {

/// Names a column of row labels as pandas and R write them: in a table of two or more columns, a first column
/// without a name becomes "Unnamed: 0", or "Unnamed: 0.1" and so on if another column has that name.
void name_row_labels(std::vector<std::string>& names);

/// Throws DataError for no columns, an empty name or a duplicate name.
void check_names(std::span<const std::string> names, const std::string& source);

}  // namespace slimbayes
