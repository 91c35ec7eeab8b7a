#pragma once

#include <string>

#include "slimbayes/bayes/weight_plan.h"
#include "slimbayes/catalog/weight_space/low_rank_options.h"

namespace slimbayes {

/// Returns the plan of the low-rank methods: every matrix that LowRankOptions::factored names is a product A
/// B^T of random factors of `options.rank` columns, fewer if a side of the matrix is smaller; the other
/// matrices and the biases have independent weights. `law` is the law of all random numbers, `start` that of
/// SitePlan.
WeightPlan low_rank_plan(const NetworkLayout& layout, const LowRankOptions& options, const std::string& law,
                         const std::string& start);

}  // namespace slimbayes
