#include "slimbayes/methods/weight_space/ensemble_options.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

nlohmann::json resolve_ensemble(const nlohmann::json& given) {
  nlohmann::json own = nlohmann::json::object(), members = own;
  if (!given.is_object())
    return options_to_json(options_from_json<EnsembleOptions>(given, "ensemble"));  // throws
  for (const auto& item : given.items()) {
    const bool mine = item.key() == "members" || item.key() == "of";
    (mine ? own : members)[item.key()] = item.value();
  }
  nlohmann::json resolved = options_to_json(options_from_json<EnsembleOptions>(own, "ensemble"));
  const MethodInfo& member = find_method(resolved["of"].get<std::string>());
  if (!member.inner.empty() || member.candidates || !member.seeded) {
    throw std::invalid_argument(
        fmt::format("[ensemble] expected `.of` to be {}; received '{}'; dnn is the usual one",
                    member.seeded ? "another method than itself" : "a method with a seed, whose fits differ",
                    member.name));
  }
  resolved["of"] = member.name;
  resolved.update(member.resolve(members));
  return resolved;
}

}  // namespace slimbayes
