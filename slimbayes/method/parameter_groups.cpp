#include "slimbayes/method/parameter_groups.h"

#include <fmt/format.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

std::vector<ParameterGroup> parameter_groups(const Parameters& parameters,
                                             const std::map<std::string, GroupRate>& rates) {
  std::vector<ParameterGroup> groups;
  for (const ParameterBlock& block : parameters.blocks()) {
    const auto rate = rates.find(block.group);
    internal_check(rate != rates.end(), "parameter_groups", "no rate for group", block.group);
    const bool plain = block.rate == 1 && block.decay == 1;
    const std::string name =
        plain ? block.group : fmt::format("{} (rate x {}, decay x {})", block.group, block.rate, block.decay);
    groups.push_back({name, block.values, block.gradient, rate->second.learning_rate * block.rate,
                      rate->second.weight_decay * block.decay});
  }
  return groups;
}

}  // namespace slimbayes
