#pragma once

#include <vector>

#include "slimbayes/method/registry.h"

namespace slimbayes {

// Each is defined in the file of its method, which includes this header.
RegistryRow dbk_row();
RegistryRow dbk_exact_row();
RegistryRow vbll_row();
RegistryRow sv_dkl_row();
RegistryRow pp_dkl_row();
RegistryRow sv_rbf_row();
RegistryRow sv_dbk_row();

/// Returns the rows of the family, in the order of its facts (catalog/families.h).
inline std::vector<RegistryRow> deep_kernel_rows() {
  return {dbk_row(), dbk_exact_row(), vbll_row(), sv_dkl_row(), pp_dkl_row(), sv_rbf_row(), sv_dbk_row()};
}

}  // namespace slimbayes
