#pragma once

#include <string>

#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {

/// Adds the statistics to the tensors of a model file. Their names begin with `prefix`.
void store_statistics(const LinearStatistics& statistics, Weights& weights,
                      const std::string& prefix = "statistics.");

/// Returns the statistics that store_statistics wrote, for `rank` features. Throws DataError or
/// std::invalid_argument for tensors that are absent or do not fit.
LinearStatistics statistics_from(const Network::Lookup& lookup, int64_t rank,
                                 const std::string& prefix = "statistics.");

/// Returns whether two models hold the same tensors, bit by bit, apart from those whose names begin with
/// "statistics.". If so, they have the same prior and features, and their statistics may be added.
bool same_but_statistics(const Weights& a, const Weights& b);

}  // namespace slimbayes
