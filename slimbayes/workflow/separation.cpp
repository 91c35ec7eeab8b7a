#include "slimbayes/workflow/separation.h"

#include "slimbayes/core/check.h"
#include "slimbayes/core/ranking.h"

namespace slimbayes {

nlohmann::json separation(const Model& model, const Scores& inside, const Scores& outside) {
  constexpr double kSds = 3;
  check(!inside.empty(), "evaluate", "a method that scores foreign rows, or numeric inputs, for --ood",
        model.method(), "fit with another --method");
  nlohmann::json auc = nlohmann::json::object(), alarms = auc, aupr = auc, inverted = nlohmann::json::array();
  for (const auto& [name, scores] : inside) {
    auc[name] = auroc(scores, outside.at(name));
    alarms[name] = false_positive_rate(scores, outside.at(name));
    aupr[name] = average_precision(scores, outside.at(name));
    if (auc[name].get<double>() < 0.5 - kSds * auroc_sd(scores.size(0), outside.at(name).size(0)))
      inverted.push_back(name);
  }
  return {{"auroc", auc}, {"fpr95", alarms}, {"aupr", aupr}, {"inverted", inverted}};
}

}  // namespace slimbayes
