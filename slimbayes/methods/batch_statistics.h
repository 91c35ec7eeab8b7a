#pragma once

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {

/// Returns the weights with the statistics of every batch norm computed again from these rows, by one pass in
/// training mode: the mean over the batches of their means and variances, each weighted by its rows. Use it
/// for weights that no training has visited, such as averages and draws (Maddox et al. 2019, algorithm 1;
/// Izmailov et al. 2018). Images are not augmented; dropout, if any, draws from `stream`. A batch of a single
/// row is left out where there are others. Without batch norms, returns the weights as they are. The result
/// shares the tensors of the parameters with `weights`, which do not change.
Weights with_batch_statistics(const NetworkSpec& spec, const Weights& weights, const Dataset& rows,
                              const Stream& stream);

}  // namespace slimbayes
