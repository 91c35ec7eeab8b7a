#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "slimbayes/export.h"
#include "slimbayes/method/method.h"

namespace slimbayes {

/// A method's entry in the registry: how to make the method from its options, and how to load a fitted one
/// from a model file. `name` equals MethodInfo::name.
struct RegistryRow {
  std::string_view name;
  /// Throws std::invalid_argument.
  std::function<std::unique_ptr<Method>(const nlohmann::json& options)> make;
  /// Throws DataError or std::invalid_argument.
  std::function<std::unique_ptr<Fitted>(const TensorFile& file)> load;
};

/// Returns one entry per method, in the order of method_catalog(). Defined in methods/registry.cpp, above the
/// families: `auto`, `ensemble` and tuning make other methods by their names.
SLIMBAYES_EXPORT std::span<const RegistryRow> registry();

/// Returns the entry of the method with this name or alias. Throws std::invalid_argument for an unknown name.
SLIMBAYES_EXPORT const RegistryRow& registry_row(std::string_view name);

}  // namespace slimbayes
