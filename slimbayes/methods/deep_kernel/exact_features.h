#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/engine/feature_pass.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/nn/engine_network.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/objectives/exact_bound.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// The features phi(x) and the noise variance of dbk-exact, bound to the tensors that training changes. The
/// posterior of the weights on top of phi is not trained but computed in closed form.
struct ExactFeatures {
  FeatureMap map;
  /// The passes of training without libtorch; nullopt if the engine does not compute these features or they
  /// are not trained.
  std::shared_ptr<const engine::Plan> plan;
  std::optional<EngineTensors> tensors;
  at::Tensor noise_theta;  // scalar
  NoiseVariance noise;

  /// Throws std::invalid_argument for tensors that do not fit.
  ExactFeatures(const std::string& basis, const NoiseOptions& noise, const NetworkSpec& spec,
                const Network::Lookup& lookup, Execution execution = Execution::engine);

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

/// Returns the initial parameters in float32 on this device, in the groups "network", "head" and "noise".
/// Throws std::invalid_argument unless noise_start > noise_floor.
Parameters exact_parameters(const ExactStart& start, const NetworkSpec& spec, const Stream& stream,
                            at::Device device = at::kCPU);

/// Returns the parameter groups for the trainer. Weight decay applies to the network only, and the noise has
/// its own learning rate.
std::vector<ParameterGroup> exact_groups(const Parameters& parameters, const TrainingOptions& training,
                                         const NoiseOptions& noise);

/// Throws std::invalid_argument for a network with batch norms. Their output for a row depends on the other
/// rows of its batch, but both passes of ExactTraining need the same features. `method` is the name in the
/// message.
void check_exact_network(const NetworkSpec& spec, const std::string& method);

/// Returns the rows low, ..., min(low + size, n) - 1, in their order.
Batch chunk_of(const Dataset& rows, int64_t low, int64_t size);

/// Full-batch training on the exact evidence. A step reads the rows twice, in chunks of `chunk` rows: the
/// first pass sums the statistics of all rows, the second takes the bound's gradient back through each chunk.
/// What the first pass computes is kept until the parameters change, so that a validation between two steps
/// needs no pass of its own, and the features of the last chunk serve both passes.
class ExactTraining {
 public:
  /// `alpha` is the weight of the trace regulariser. `blocks` are the parameters that training changes;
  /// without them nothing is kept from one call to the next. Each of `ranks` passes over its part of the
  /// rows; the sums and the gradients are those of all rows. The other arguments must outlive the object.
  ExactTraining(const ExactFeatures& model, const Dataset& rows, double alpha, int64_t chunk,
                std::vector<ParameterBlock> blocks = {}, const Collective* ranks = nullptr);

  /// Returns the bound at the present parameters (objectives/exact_bound.h).
  const ExactBound& bound();

  /// Adds the gradient of the loss -bound / n to those of the parameters, and returns the loss.
  double step();

 private:
  /// The features of consecutive rows and their targets, float64.
  struct Chunk {
    Expansion phi;
    LinearRows rows;
  };

  Chunk chunk_at(int64_t low) const;
  bool is_current() const;
  ExactSums first_pass();
  void second_pass();
  ExactSums first_engine_pass();
  void second_engine_pass();
  ExactSums joined(const ExactSums& own) const;
  void sum_gradients() const;

  const ExactFeatures& model_;
  RankRows own_;
  double alpha_;
  int64_t chunk_, last_;  // rows of a chunk; where the last chunk begins
  double scale_;          // -1 / n
  Batch whole_;           // all rows, if they are one chunk
  std::vector<ParameterBlock> blocks_;
  std::vector<at::Tensor> kept_;  // the values of the blocks when `bound_` was computed
  std::optional<ExactBound> bound_;
  std::optional<Chunk> end_;                 // the last chunk, with its graph
  std::optional<engine::FeaturePass> pass_;  // instead of libtorch's, if all rows are one chunk
  at::Tensor x_, y_;                         // of the engine: [n, d] float32, [n] float64
};

}  // namespace slimbayes
