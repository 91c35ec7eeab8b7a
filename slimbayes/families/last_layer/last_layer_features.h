#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "slimbayes/method/trained_network.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// What the last layer of a network sees and gives.
struct LastLayerRows {
  at::Tensor features;  // [b, r] phi_r, the gradient of an output with respect to the last layer's parameters
  at::Tensor output;    // [b, k] the network's outputs
};

/// A network that is evaluated up to its output layer and then through it. phi_r(x) = (s h(x), t): h are the
/// inputs of the output layer, s and t its multipliers of weights and bias (R equation 5, with mu-P's
/// multipliers). The features of an output without bias are s h(x) alone. An immutable value.
class LastLayerFeatures {
 public:
  /// `spec` ends in a Linear layer; its tensors are named "network.0.weight", ... Throws
  /// std::invalid_argument for a network that ends in another layer, in the name of `method`.
  LastLayerFeatures(const NetworkSpec& spec, const Network::Lookup& lookup, std::string_view method);
  explicit LastLayerFeatures(const ScriptNetwork& module);  // s = t = 1

  LastLayerRows operator()(const Input& input) const { return rows_(input); }  // inputs in type()
  int64_t rank() const { return rank_; }                                       // r
  int64_t outputs() const { return outputs_; }                                 // k
  at::ScalarType type() const { return type_; }                                // of the tensors

 private:
  std::function<LastLayerRows(const Input&)> rows_;
  int64_t rank_, outputs_;
  at::ScalarType type_;
};

/// Returns the features of a trained network in the type in which it was trained. `network` need not outlive
/// them.
LastLayerFeatures last_layer_features(const TrainedNetwork& network, std::string_view method);

/// Returns the features that the statistics of a posterior are computed from: in float64, so that a row adds
/// and removes the same numbers whatever batch it is in. Those of images are float32, because convolutions in
/// float64 take several times as long, and those of a module have its own type: they differ by float32
/// rounding from batch to batch.
LastLayerFeatures statistics_features(const TrainedNetwork& network, std::string_view method);

/// Returns how many features a network of this spec has: the width before its Linear output layer, and 1 for
/// a bias. Throws as LastLayerFeatures.
int64_t last_layer_rank(const NetworkSpec& spec, std::string_view method);

/// Returns the trained weights of the output layer, the bias last: the output is features * weights^T.
/// Float64. [k, r]
at::Tensor output_weights(const TrainedNetwork& network);

/// Returns the features that answers are computed from: those of training, or where the prior is so wide
/// beside the noise that float32 rounding of a feature would show in the variance (`precise`, IdentityPlus
/// without a factor), those of the statistics.
LastLayerFeatures answer_features(const TrainedNetwork& network, bool precise, std::string_view method);

/// Returns the gradients of its outputs with respect to all parameters but the last layer's, computed in
/// `type`; a module has its own.
GradientModel last_layer_gradients(const TrainedNetwork& network, at::ScalarType type = at::kFloat);

/// Whether the rows of this network are images (channels, height, width).
bool takes_images(const TrainedNetwork& network);

}  // namespace slimbayes
