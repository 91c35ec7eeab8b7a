#pragma once

#include <vector>

#include "slimbayes/method/registry.h"

namespace slimbayes {

// Each is defined in the file of its method, which includes this header.
RegistryRow auto_row();

/// Returns the rows of the family, in the order of its facts (catalog/families.h).
inline std::vector<RegistryRow> portfolio_rows() { return {auto_row()}; }

}  // namespace slimbayes
