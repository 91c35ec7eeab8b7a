#include "slimbayes/catalog/weight_space/full_rank_options.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/families/weight_space/variational_network.h"

// rank-1: matrices scaled by random vectors (Dusenberry et al. 2020).
//
// Model       W = diag(1 + s) V diag(1 + r). s [out] and r [in] have independent priors with mean 0; V and
//             the biases are trained and not random.
// Estimator   Independent Gaussians for s and r (families/weight_space/variational_network.cpp).
// Cost        That of dnn per step, and out + in random numbers for each matrix.
// When        As a baseline: uncertainty for few additional numbers.

namespace slimbayes {

namespace {

VariationalNetwork rank_1(const nlohmann::json& options) {
  const auto o = options_from_json<RankOneOptions>(options, "rank-1");
  return {"rank-1", options_to_json(o), o.variational, [v = o.variational](const NetworkLayout& layout) {
            WeightPlan plan;
            for (const MapSite& site : layout.sites)
              plan.sites[site.name] = {
                  .structure = "rank_one", .prior = prior_of(v), .start_scale = v.start_sd};
            return plan;
          }};
}

}  // namespace

std::unique_ptr<Method> make_rank_1(const nlohmann::json& options) {
  return variational_method(rank_1(options));
}

std::unique_ptr<Fitted> load_rank_1(const TensorFile& file) {
  return load_variational(rank_1(stored_json(file, "options")), file);
}

}  // namespace slimbayes
