#include "slimbayes/model/separation.h"

#include <utility>
#include <vector>

#include "slimbayes/answers/separation_report.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

SeparationReport separation(const Model& model, const Scores& inside, const Scores& outside) {
  if (inside.empty())
    refuse("evaluate", "a method that scores foreign rows, or numeric inputs, for `.ood`", model.method(),
           "fit with another `.method`");
  SeparationReport report = separation_report(inside, outside);
  if (std::vector<ProjectorFact> projectors = model.fitted().projectors(); !projectors.empty())
    report.projectors = std::move(projectors);
  report.histogram = score_histograms(inside, outside);
  return report;
}

}  // namespace slimbayes
