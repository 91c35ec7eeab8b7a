#include "slimbayes/methods/weight_space/full_rank_options.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/variational_network.h"

// full-rank: the mean-field network with which Toure and Stephens compare low-rank.
//
// Model       Independent weights, with the same prior options as low-rank.
// Estimator   Independent Gaussians (methods/weight_space/variational_network.cpp), as bbb. The option
//             `start` offers the start of the paper's baseline, U(-0.2, 0.2).
// Cost        Two numbers for every weight, and one random number for every weight and step.
// When        To compare with low-rank. bbb is the same model with the options of Rich-BLL's baseline.

namespace slimbayes {

namespace {

VariationalNetwork full_rank(const nlohmann::json& options) {
  const auto o = options_from_json<FullRankOptions>(options, "full-rank");
  using Start = VariationalNetwork::Start;
  return {"full-rank", options_to_json(o), o.variational,
          [v = o.variational](const NetworkLayout& layout) { return independent_plan(layout, v); },
          o.start == "uniform" ? Start::uniform : Start::random};
}

}  // namespace

RegistryRow full_rank_row() { return variational_row("full-rank", full_rank); }

}  // namespace slimbayes
