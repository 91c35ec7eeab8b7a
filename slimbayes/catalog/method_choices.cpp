#include "slimbayes/catalog/method_choices.h"

namespace slimbayes {

ChosenOptions choose_options(const MethodInfo& method, const nlohmann::json& given,
                             const MethodChoices& choices) {
  ChosenOptions chosen{preset_options(method, choices.preset, given), {}};
  if (choices.tune) chosen.tune = tunable_options(method, given);
  return chosen;
}

}  // namespace slimbayes
