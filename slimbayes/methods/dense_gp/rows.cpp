#include "slimbayes/methods/rows.h"

namespace slimbayes {

// Each is defined in the file of its method.
RegistryRow dkl_exact_row();
RegistryRow gp_exact_row();

std::vector<RegistryRow> dense_gp_rows() { return {dkl_exact_row(), gp_exact_row()}; }

}  // namespace slimbayes
