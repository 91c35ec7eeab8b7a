#pragma once

#include <string>

#include "slimbayes/methods/weight_space/low_rank/low_rank_options.h"
#include "slimbayes/methods/weight_space/variational_network.h"

namespace slimbayes {

/// Returns the plan of the low-rank methods: every matrix that LowRankOptions::factored names is a product A
/// B^T of random factors; the other matrices and the biases have independent weights. The factors have
/// `options.rank` columns, or as many as `options.layer_ranks` says for their layer, and fewer if a side of
/// the matrix is smaller and `options.clip_rank` is true. `law` is the law of all random numbers, `start`
/// that of SitePlan. Throws std::invalid_argument for layer_ranks that are no ranks or more than the layers
/// with matrices.
WeightPlan low_rank_plan(const NetworkLayout& layout, const LowRankOptions& options, const std::string& law,
                         const std::string& start);

/// Returns a note if no matrix of the plan is a product of factors, else "".
std::string note_on_factors(const TrainedPlan& trained);

}  // namespace slimbayes
