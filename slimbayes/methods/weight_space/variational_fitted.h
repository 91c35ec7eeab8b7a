#pragma once

#include <cstdint>
#include <memory>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/methods/weight_space/variational_network.h"
#include "slimbayes/methods/weight_space/weight_draws.h"

namespace slimbayes {

/// The tensor of a model file that holds the trained logarithm of the noise variance of a regression
/// (NoiseVariance with the form exp).
inline constexpr const char* kLogNoise = "log_noise";

/// Returns `draws` draws of the network's weights, each a network. `network` and `weights` must outlive the
/// result.
WeightDraws draws_of(const Network& network, const WeightPosterior& weights, const Shape& input,
                     int64_t draws);

/// Returns a fitted network with random weights. `net` holds its parameters, `plan` says which weights are
/// random. Throws std::invalid_argument or DataError if the parameters do not fit the plan.
std::unique_ptr<Fitted> variational_fitted(VariationalNetwork method, NetworkFile net, WeightPlan plan);

}  // namespace slimbayes
