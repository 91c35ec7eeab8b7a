#pragma once

#include <string>

#include "slimbayes/methods/weight_space/inducing/inducing_options.h"
#include "slimbayes/methods/weight_space/variational_network.h"

namespace slimbayes {

/// Returns the plan in which the matrices of the chosen layers have inducing weights; everything else is
/// deterministic. The output layer has as many inducing rows as outputs; other sizes of 0 in the options
/// follow from the layer. A bias is a last column of its layer's matrix. `conditional` is "matheron" or
/// "reparam". Throws std::invalid_argument for a layer that the network lacks or that has no matrix but an
/// embedding, or for a start above its limit.
WeightPlan inducing_plan(const NetworkLayout& layout, const FidGpOptions& options,
                         const std::string& conditional);

/// Returns the least KL that the limit of the noise allows: the sum over the layers of d (l^2 / 2 - log l -
/// 1/2) for l = most_noise and d weights of a layer; 3.007 nats a weight at 0.03. No training gets below it.
double least_kl(const NetworkLayout& layout, const WeightPlan& plan);

/// Returns a note on the KL of a training row, in nats: that of one draw, and the part of it that the limit
/// of the noise imposes (least_kl).
std::string note_on_kl(const TrainedPlan& trained);

}  // namespace slimbayes
