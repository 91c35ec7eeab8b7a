#include "slimbayes/core/stored.h"
#include "slimbayes/families/weight_space/low_rank_plan.h"
#include "slimbayes/families/weight_space/variational_network.h"

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

std::unique_ptr<Method> make_low_rank_svd(const nlohmann::json& options) {
  return variational_method(low_rank_svd(options));
}

std::unique_ptr<Fitted> load_low_rank_svd(const TensorFile& file) {
  return load_variational(low_rank_svd(stored_json(file, "options")), file);
}

}  // namespace slimbayes
