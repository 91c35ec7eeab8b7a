#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Returns a table as JSON whose numbers are binary (for CBOR), without Column::kept, so that another process
/// of the same kind of machine can have it; and the table of such JSON, with this name of its source.
nlohmann::json as_json(const Table& table);
Table table_of(const nlohmann::json& json, std::string source);

}  // namespace slimbayes
