#pragma once

#include <vector>

#include "slimbayes/method/registry.h"

namespace slimbayes {

// Each function returns the registry's rows of one family, in the order of its facts (catalog/families.h). It
// is defined in the rows.cpp of the family's folder, such as deep_kernel/rows.cpp.

std::vector<RegistryRow> portfolio_rows();
std::vector<RegistryRow> deep_kernel_rows();
std::vector<RegistryRow> dense_gp_rows();
std::vector<RegistryRow> last_layer_rows();
std::vector<RegistryRow> weight_space_rows();
std::vector<RegistryRow> plain_rows();

}  // namespace slimbayes
