#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "slimbayes/method/method.h"

namespace slimbayes {

/// A method's entry in the registry: how to make the method from its options, and how to load a fitted one
/// from a model file. `name` equals MethodInfo::name.
struct RegistryRow {
  std::string_view name;
  std::unique_ptr<Method> (*make)(const nlohmann::json& options);  // throws std::invalid_argument
  std::unique_ptr<Fitted> (*load)(const TensorFile& file);  // throws DataError or std::invalid_argument
};

/// Returns one entry per method, in the order of method_catalog().
std::span<const RegistryRow> registry();

/// Returns the entry of the method with this name or alias. Throws std::invalid_argument for an unknown name.
const RegistryRow& registry_row(std::string_view name);

}  // namespace slimbayes
