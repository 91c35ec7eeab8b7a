#include "slimbayes/methods/weight_space/low_rank/low_rank_plan.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/variational_network.h"

// low-rank: a network whose matrices are products of random factors (Toure and Stephens, sections 2 and 3).
//
// Model       W = A B^T with A [out, r] and B [in, r], whose elements have independent priors. Elements of W
//             in one row or one column are correlated, since they share factors (Lemma 3.5).
// Estimator   Independent Gaussians for the elements of A and B
//             (methods/weight_space/variational_network.cpp). x W^T is computed as (x B) A^T, so W is never
//             formed, except in an LSTM or a convolution.
// Cost        r (out + in) multiplications for each row and matrix in place of out * in, and as many random
//             numbers a step. The model has fewer numbers than the network without a distribution if r < out
//             in / (2 (out + in)).
// When        For a Bayesian neural network smaller than a plain one: large matrices whose singular values
//             fall quickly.
// Deviations  The prior is matched to that of a matrix without factors (--match-prior), and matrices that
//             would not get smaller have independent weights (--factored).

namespace slimbayes {

namespace {

VariationalNetwork low_rank(const nlohmann::json& options) {
  const auto o = options_from_json<LowRankOptions>(options, "low-rank");
  return {"low-rank",
          options_to_json(o),
          o.variational,
          [o](const NetworkLayout& layout) { return low_rank_plan(layout, o, "gaussian", "random"); },
          VariationalNetwork::Start::random,
          note_on_factors};
}

}  // namespace

RegistryRow low_rank_row() { return variational_row("low-rank", low_rank); }

}  // namespace slimbayes
