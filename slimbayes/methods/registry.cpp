#include "slimbayes/methods/registry.h"

#include <stdexcept>
#include <string>


namespace slimbayes {

// Defined by the file of each method.
std::unique_ptr<Method> make_dbk(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dbk(const TensorFile& file);
std::unique_ptr<Method> make_dnn(const nlohmann::json& options);
std::unique_ptr<Fitted> load_dnn(const TensorFile& file);
std::unique_ptr<Method> make_gp_exact(const nlohmann::json& options);
std::unique_ptr<Fitted> load_gp_exact(const TensorFile& file);

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
