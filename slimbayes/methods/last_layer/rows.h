#pragma once

#include <vector>

#include "slimbayes/method/registry.h"

namespace slimbayes {

// Each is defined in the file of its method, which includes this header.
RegistryRow dnn_row();
RegistryRow rich_bll_row();
RegistryRow bll_row();
RegistryRow last_layer_laplace_row();
RegistryRow ntk_gp_row();
RegistryRow ntk_sketch_row();

/// Returns the rows of the family, in the order of its facts (catalog/families.h).
inline std::vector<RegistryRow> last_layer_rows() {
  return {dnn_row(), rich_bll_row(), bll_row(), last_layer_laplace_row(), ntk_gp_row(), ntk_sketch_row()};
}

}  // namespace slimbayes
