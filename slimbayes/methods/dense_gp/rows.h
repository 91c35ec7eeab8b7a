#pragma once

#include <vector>

#include "slimbayes/method/registry.h"

namespace slimbayes {

// Each is defined in the file of its method, which includes this header.
RegistryRow dkl_exact_row();
RegistryRow gp_exact_row();

/// Returns the rows of the family, in the order of its facts (catalog/families.h).
inline std::vector<RegistryRow> dense_gp_rows() { return {dkl_exact_row(), gp_exact_row()}; }

}  // namespace slimbayes
