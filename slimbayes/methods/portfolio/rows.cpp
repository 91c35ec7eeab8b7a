#include "slimbayes/methods/rows.h"

namespace slimbayes {

// Each is defined in the file of its method.
RegistryRow auto_row();

std::vector<RegistryRow> portfolio_rows() { return {auto_row()}; }

}  // namespace slimbayes
