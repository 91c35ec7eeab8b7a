#pragma once

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {

/// Returns the weights with the running means and variances of every batch norm recomputed from these rows.
/// Use it for weights that no training step has visited, such as averages or draws of weights: the stored
/// statistics do not fit them (Maddox et al. 2019, algorithm 1; Izmailov et al. 2018). One pass in training
/// mode averages the means and variances of the batches, weighted by their numbers of rows. Rows with weights
/// are drawn in proportion to them, as in an epoch of a training (plan_of_weights). Images are not augmented;
/// dropout, if any, draws from `stream`. A batch of a single row is skipped if an earlier batch was used.
/// Without batch norms, returns the weights unchanged. The result shares the parameter tensors of `weights`,
/// which do not change. The pass runs on the device of the rows; the new statistics are on the CPU.
Weights with_batch_statistics(const NetworkSpec& spec, const Weights& weights, const Dataset& rows,
                              const Stream& stream);

}  // namespace slimbayes
