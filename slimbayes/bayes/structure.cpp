#include "slimbayes/bayes/structure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "slimbayes/bayes/structures.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

struct StructureRow {
  const char* name;
  bool any;      // whether the structure can stand at a tensor that is no matrix of a layer
  bool bias;     // whether it makes the bias of a layer, too
  bool trained;  // whether the matrix itself is trained and not random
  std::unique_ptr<const Structure> (*make)(const RandomSite& site, const SitePlan& plan);
};

constexpr StructureRow kStructures[] = {
    {"mean_field", true, false, false, make_mean_field},
    {"low_rank", false, false, false, make_low_rank},
    {"rank_one", false, false, true, make_rank_one},
    {"rank_one_at_zero", false, false, true, make_rank_one_at_zero},
    {"inducing", false, true, false, make_inducing},
};

}  // namespace

std::unique_ptr<const Structure> make_structure(const RandomSite& site, const SitePlan& plan) {
  const StructureRow* row = nullptr;
  std::vector<std::string> known;
  for (const StructureRow& one : kStructures) {
    if (plan.structure == one.name) row = &one;
    known.emplace_back(one.name);
  }
  if (row == nullptr)
    refuse("weight_plan", fmt::format("one of the structures {} at '{}'", fmt::join(known, ", "), site.name),
           plan.structure);
  if (!row->any && !site.matrix)
    refuse("weight_plan",
           fmt::format("the structure mean_field at '{}', which is no matrix of a layer", site.name),
           plan.structure);
  return row->make(site, plan);
}

bool takes_bias(const SitePlan& plan) {
  return std::ranges::any_of(kStructures,
                             [&](const StructureRow& one) { return one.bias && plan.structure == one.name; });
}

bool trains_the_matrix(const SitePlan& plan) {
  return std::ranges::any_of(
      kStructures, [&](const StructureRow& one) { return one.trained && plan.structure == one.name; });
}

}  // namespace slimbayes
