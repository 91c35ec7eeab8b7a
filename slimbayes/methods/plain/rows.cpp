#include "slimbayes/methods/rows.h"

namespace slimbayes {

// Each is defined in the file of its method.
RegistryRow ridge_row();
RegistryRow logistic_row();
RegistryRow extra_trees_row();
RegistryRow bag_of_words_row();
RegistryRow constant_row();

std::vector<RegistryRow> plain_rows() {
  return {ridge_row(), logistic_row(), extra_trees_row(), bag_of_words_row(), constant_row()};
}

}  // namespace slimbayes
