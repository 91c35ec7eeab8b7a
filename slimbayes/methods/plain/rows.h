#pragma once

#include <vector>

#include "slimbayes/method/registry.h"

namespace slimbayes {

// Each is defined in the file of its method, which includes this header.
RegistryRow ridge_row();
RegistryRow logistic_row();
RegistryRow extra_trees_row();
RegistryRow bag_of_words_row();
RegistryRow constant_row();

/// Returns the rows of the family, in the order of its facts (catalog/families.h).
inline std::vector<RegistryRow> plain_rows() {
  return {ridge_row(), logistic_row(), extra_trees_row(), bag_of_words_row(), constant_row()};
}

}  // namespace slimbayes
