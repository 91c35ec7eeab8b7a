#pragma once

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/catalog/gaussian_options.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Features and noise bound to tensors: what an exact method trains; the weights' posterior is computed.
struct ExactFeatures {
  FeatureMap map;
  at::Tensor noise_theta;  // scalar
  NoiseVariance noise;

  /// Throws std::invalid_argument for tensors that do not fit.
  ExactFeatures(const std::string& basis, const NoiseOptions& noise, const NetworkSpec& spec,
                const Network::Lookup& lookup);

  Expansion operator()(const Input& x) const { return map(x); }
  Input input(const Batch& batch) const;                              // in the type of the parameters
  double noise_var() const;                                           // noise(noise_theta)
};

/// What its start depends on.
struct ExactStart {
  std::string basis;
  int64_t rank;
  NoiseOptions noise;
};

/// Groups "network", "head" and "noise", float32. Throws std::invalid_argument unless noise_start >
/// noise_floor.
Parameters exact_parameters(const ExactStart& start, const NetworkSpec& spec, const Stream& stream);

/// Weight decay on the network alone, the noise's own rate.
std::vector<ParameterGroup> exact_groups(const Parameters& parameters, const TrainingOptions& training,
                                         const NoiseOptions& noise);

/// Throws std::invalid_argument for a network with batch norms: what it gives for a row depends on the batch,
/// and both passes of a step need the same features.
void check_exact_network(const NetworkSpec& spec, const std::string& method);

/// Rows [low, min(low + size, n)) in their order.
Batch chunk_of(const Dataset& rows, int64_t low, int64_t size);

/// Both passes over the rows, `chunk` of them at a time: adds to the leaves' gradients those of -bound / n
/// (objectives/ exact_bound.h) and returns it.
double exact_step(const ExactFeatures& model, const Dataset& rows, double alpha, int64_t chunk);

/// Statistics as tensors of a model file, and back. The latter throws DataError or std::invalid_argument.
void store_statistics(const LinearStatistics& statistics, Weights& weights);
LinearStatistics statistics_from(const Network::Lookup& lookup, int64_t rank);

}  // namespace slimbayes
