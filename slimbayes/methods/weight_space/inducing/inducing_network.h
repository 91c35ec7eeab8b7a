#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "slimbayes/methods/weight_space/inducing/inducing_options.h"
#include "slimbayes/methods/weight_space/inducing/inducing_plan.h"
#include "slimbayes/methods/weight_space/variational_network.h"

namespace slimbayes {

/// Returns the configuration of a method on inducing weights, made from its options: FidGpOptions, or
/// InducingOptions for a method without a flow. `conditional` as in InducingPlan. Throws
/// std::invalid_argument for invalid options.
template <class Options>
VariationalNetwork inducing_network(const std::string& method, const nlohmann::json& given,
                                    const std::string& conditional) {
  const auto o = options_from_json<Options>(given, method);
  FidGpOptions whole;
  if constexpr (std::is_same_v<Options, FidGpOptions>)
    whole = o;
  else
    whole = {.inducing = o, .flow = "none"};
  return {.method = method,
          .options = options_to_json(o),
          .variational = whole.inducing.variational,
          .plan = [whole, conditional](
                      const NetworkLayout& layout) { return inducing_plan(layout, whole, conditional); },
          .note = note_on_kl,
          .ood_layers = whole.inducing.ood_layers,
          .shortens_kl = true};
}

/// Returns the registry's row of a method on inducing weights; parameters as in inducing_network.
template <class Options>
RegistryRow inducing_row(std::string_view method, const std::string& conditional) {
  return variational_row(method, [name = std::string(method), conditional](const nlohmann::json& options) {
    return inducing_network<Options>(name, options, conditional);
  });
}

}  // namespace slimbayes
