#pragma once

#include <string>
#include <vector>

#include "slimbayes/serve/model.h"
#include "slimbayes/serve/serve_file.h"

namespace slimbayes::serve {

/// Returns the columns of a row as Model::columns() names them.
std::vector<ColumnInfo> columns_in(const ServedEncoder& encoder, const InputCells& cells);

/// Returns what Model::describe() says of a model with these columns: a JSON object.
std::string description_of(const ServedFile& parts, const std::vector<ColumnInfo>& of_row);

}  // namespace slimbayes::serve
