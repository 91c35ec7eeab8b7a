#include "slimbayes/model/separation.h"

#include "slimbayes/answers/separation_report.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

nlohmann::json separation(const Model& model, const Scores& inside, const Scores& outside) {
  if (inside.empty())
    refuse("evaluate", "a method that scores foreign rows, or numeric inputs, for `.ood`", model.method(),
           "fit with another `.method`");
  nlohmann::json report = separation_report(inside, outside);
  report.update(model.fitted().ood_facts());
  report["histogram"] = score_histograms(inside, outside);
  return report;
}

}  // namespace slimbayes
