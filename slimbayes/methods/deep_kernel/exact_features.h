#pragma once

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// The features phi(x) and the noise variance of dbk-exact, bound to the tensors that training changes. The
/// posterior of the weights on top of phi is not trained but computed in closed form.
struct ExactFeatures {
  FeatureMap map;
  at::Tensor noise_theta;  // scalar
  NoiseVariance noise;

  /// Throws std::invalid_argument for tensors that do not fit.
  ExactFeatures(const std::string& basis, const NoiseOptions& noise, const NetworkSpec& spec,
                const Network::Lookup& lookup);

  Expansion operator()(const Input& x) const { return map(x); }
  Input input(const Batch& batch) const;  // the inputs in the type of the parameters
  double noise_var() const;               // at the present noise_theta
};

/// The options that determine the initial parameters of dbk-exact.
struct ExactStart {
  std::string basis;
  int64_t rank;
  NoiseOptions noise;
};

/// Returns the initial parameters in float32, in the groups "network", "head" and "noise". Throws
/// std::invalid_argument unless noise_start > noise_floor.
Parameters exact_parameters(const ExactStart& start, const NetworkSpec& spec, const Stream& stream);

/// Returns the parameter groups for the trainer. Weight decay applies to the network only, and the noise has
/// its own learning rate.
std::vector<ParameterGroup> exact_groups(const Parameters& parameters, const TrainingOptions& training,
                                         const NoiseOptions& noise);

/// Throws std::invalid_argument for a network with batch norms. Their output for a row depends on the other
/// rows of its batch, but both passes of exact_step need the same features. `method` is the name in the
/// message.
void check_exact_network(const NetworkSpec& spec, const std::string& method);

/// Returns the rows low, ..., min(low + size, n) - 1, in their order.
Batch chunk_of(const Dataset& rows, int64_t low, int64_t size);

/// Computes the loss of a full-batch training step, -bound / n (objectives/exact_bound.h), adds its gradient
/// to those of the parameters, and returns it. It reads the rows twice, in chunks of `chunk` rows: the first
/// pass sums the statistics of all rows, the second takes the bound's gradient back through each chunk.
/// `alpha` is the weight of the trace regulariser.
double exact_step(const ExactFeatures& model, const Dataset& rows, double alpha, int64_t chunk);

}  // namespace slimbayes
