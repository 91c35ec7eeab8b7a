#include "slimbayes/catalog/recipe.h"

#include <utility>

namespace slimbayes {

nlohmann::json recipe(const FitOptions& fit, const MethodInfo& method, const nlohmann::json& options,
                      const std::vector<std::string>& tuned) {
  nlohmann::json inputs = options_to_json(fit), all = {{"method", method.name}, {"options", options}};
  if (fit.scale == "auto") inputs["scale"] = inner_method(method, options).input_scale;
  for (const char* name : {"calibrate", "calibration_fraction", "noise_folds"}) {
    all[name] = inputs.at(name);
    inputs.erase(name);
  }
  inputs.erase("target");
  for (const OptionDoc& doc : option_docs<FitOptions>()) {
    if (doc.type != "list") continue;
    nlohmann::json names = nlohmann::json::array();
    for (const nlohmann::json& list : inputs.at(doc.name))
      for (std::string& name : split_list(list.get<std::string>())) names.push_back(std::move(name));
    inputs[doc.name] = std::move(names);
  }
  all["inputs"] = std::move(inputs);
  all["tune"] = tuned;
  return all;
}

}  // namespace slimbayes
