#include "slimbayes/families/weight_space/low_rank_plan.h"

#include <algorithm>

#include "slimbayes/families/weight_space/variational_network.h"

namespace slimbayes {

WeightPlan low_rank_plan(const NetworkLayout& layout, const LowRankOptions& options, const std::string& law,
                         const std::string& start) {
  const Prior prior = prior_of(options.variational);
  WeightPlan plan =
      plan_for_all(layout, {.law = law, .prior = prior, .start_scale = options.variational.start_sd});
  for (const MapSite& site : layout.sites) {
    const int64_t rank = std::min({options.rank, site.out, site.in});
    const bool smaller = rank * (site.out + site.in) < site.out * site.in;
    if (!smaller && options.factored == "smaller") continue;
    SitePlan& own = plan.sites[site.name];
    own.structure = "low_rank";
    own.rank = rank;
    own.start = start;
    own.start_ratio = options.start_share;
    own.damping = options.damping;
    if (options.match_prior) own.prior = matched_to_dense(prior, rank);
  }
  return plan;
}

}  // namespace slimbayes
