#include "slimbayes/methods/weight_space/full_rank_options.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/variational_network.h"

// rank-1: matrices scaled by random vectors (Dusenberry et al. 2020).
//
// Model       W = diag(1 + s) V diag(1 + r). s [out] and r [in] have independent priors with mean 0; V and
//             the biases are trained and not random. With --scales about-zero W = diag(s) V diag(r).
// Estimator   Independent Gaussians for s and r (methods/weight_space/variational_network.cpp).
// Cost        That of dnn per step, and out + in random numbers for each matrix.
// When        As a baseline: uncertainty for few additional numbers.

namespace slimbayes {

namespace {

VariationalNetwork rank_1(const nlohmann::json& options) {
  const auto o = options_from_json<RankOneOptions>(options, "rank-1");
  return {"rank-1", options_to_json(o), o.variational, [o](const NetworkLayout& layout) {
            WeightPlan plan;
            for (const MapSite& site : layout.sites)
              plan.sites[site.name] = {
                  .structure = o.scales == "about-zero" ? "rank_one_at_zero" : "rank_one",
                  .prior = prior_of(o.variational),
                  .start_scale = o.variational.start_sd};
            return plan;
          }};
}

}  // namespace

RegistryRow rank_1_row() { return variational_row("rank-1", rank_1); }

}  // namespace slimbayes
