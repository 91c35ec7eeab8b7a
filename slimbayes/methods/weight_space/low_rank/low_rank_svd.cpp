#include "slimbayes/methods/weight_space/low_rank/low_rank_plan.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/variational_network.h"

// low-rank-svd: low-rank, started at a trained network (Toure and Stephens, appendix F.9).
//
// Model       As low-rank.
// Estimator   As low-rank. A and B start at the best approximation of rank r of each trained matrix, from its
//             singular value decomposition; other weights start at their trained values.
// Cost        That of dnn, then that of low-rank. --network-from takes the network of a model instead of
//             training one.
// When        For a network that is trained already, or if low-rank trains slowly from its random start.

namespace slimbayes {

namespace {

VariationalNetwork low_rank_svd(const nlohmann::json& options) {
  const auto o = options_from_json<LowRankSvdOptions>(options, "low-rank-svd");
  return {"low-rank-svd",
          options_to_json(o),
          o.low_rank.variational,
          [own = o.low_rank](const NetworkLayout& layout) {
            return low_rank_plan(layout, own, "gaussian", "svd");
          },
          VariationalNetwork::Start::trained,
          note_on_factors};
}

}  // namespace

RegistryRow low_rank_svd_row() { return variational_row("low-rank-svd", low_rank_svd); }

}  // namespace slimbayes
