#include "slimbayes/method/registry.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "slimbayes/methods/deep_kernel/rows.h"
#include "slimbayes/methods/dense_gp/rows.h"
#include "slimbayes/methods/last_layer/rows.h"
#include "slimbayes/methods/plain/rows.h"
#include "slimbayes/methods/portfolio/rows.h"
#include "slimbayes/methods/weight_space/rows.h"

namespace slimbayes {

std::span<const RegistryRow> registry() {
  static const std::vector<RegistryRow> rows = [] {
    std::vector<RegistryRow> all;
    for (const auto family :
         {portfolio_rows, deep_kernel_rows, dense_gp_rows, last_layer_rows, weight_space_rows, plain_rows})
      std::ranges::move(family(), std::back_inserter(all));
    return all;
  }();
  return rows;
}

const RegistryRow& registry_row(std::string_view name) {
  const std::string& canonical = find_method(name).name;
  const auto found = std::ranges::find(registry(), canonical, &RegistryRow::name);
  if (found == registry().end())
    throw std::logic_error("the catalogue lists '" + canonical + "' but the registry does not");
  return *found;
}

}  // namespace slimbayes
