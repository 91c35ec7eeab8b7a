#pragma once

#include <span>
#include <string>
#include <vector>

namespace slimbayes {

/// Gives a name to a first column that has none, if there are two or more columns. pandas and R write the
/// labels of the rows as such a column. The name is "Unnamed: 0", as in pandas, or "Unnamed: 0.1" and so on
/// if another column has that name; is_row_label() recognises it.
void name_row_labels(std::vector<std::string>& names);

/// Throws DataError if there is no name, or if a name is empty or occurs twice. `source` is the file's path.
void check_names(std::span<const std::string> names, const std::string& source);

}  // namespace slimbayes
