#include "slimbayes/methods/weight_space/low_rank/low_rank_plan.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/variational_network.h"

// low-rank-laplace: low-rank with Laplace distributions for Gaussians (Toure and Stephens, section 2).
//
// Model       As low-rank.
// Estimator   As low-rank, but every element of A and B has a Laplace distribution, whose tails are heavier:
//             the draws are near the location more often, and far from it more often.
// When        To see whether the shape of the posterior matters.

namespace slimbayes {

namespace {

VariationalNetwork low_rank_laplace(const nlohmann::json& options) {
  const auto o = options_from_json<LowRankOptions>(options, "low-rank-laplace");
  return {"low-rank-laplace",
          options_to_json(o),
          o.variational,
          [o](const NetworkLayout& layout) { return low_rank_plan(layout, o, "laplace", "random"); },
          VariationalNetwork::Start::random,
          note_on_factors};
}

}  // namespace

RegistryRow low_rank_laplace_row() { return variational_row("low-rank-laplace", low_rank_laplace); }

}  // namespace slimbayes
