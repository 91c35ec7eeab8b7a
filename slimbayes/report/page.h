#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/export.h"

namespace slimbayes {

/// Returns the report as one HTML page, which needs no network and no script. `facts` are those of
/// report_facts(); the page shows their numbers and computes none. It is also well-formed XML. Texts of
/// foreign origin are escaped. Equal facts give equal bytes.
SLIMBAYES_EXPORT std::string report_page(const nlohmann::json& facts);

}  // namespace slimbayes
