#include "slimbayes/methods/registry.h"

#include <stdexcept>
#include <string>

#include "slimbayes/methods/methods.h"

namespace slimbayes {

namespace {

constexpr Row kRows[] = {
    {"dbk", make_dbk, load_dbk},
    {"dnn", make_dnn, load_dnn},
    {"gp-exact", make_gp_exact, load_gp_exact},
};

}  // namespace

std::span<const Row> registry() { return kRows; }

const Row& registry_row(std::string_view name) {
  const std::string& canonical = find_method(name).name;
  for (const Row& row : kRows) {
    if (row.name == canonical) return row;
  }
  throw std::logic_error("the catalogue lists '" + canonical + "' but the registry does not");
}

}  // namespace slimbayes
