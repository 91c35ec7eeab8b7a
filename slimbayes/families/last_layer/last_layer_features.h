#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "slimbayes/method/trained_network.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// The features and the output of a network's last layer.
struct LastLayerRows {
  at::Tensor features;  // [b, r] phi_r, the gradient of an output with respect to the last layer's parameters
  at::Tensor output;    // [b, k] the network's outputs
};

/// A network split before its output layer: it returns the features of the last layer and the output.
/// phi_r(x) = (s h(x), t), where h are the inputs of the output layer, and s and t are its multipliers of
/// weights and bias (R equation 5, with mu-P's multipliers). Without a bias the features are s h(x). An
/// immutable value.
class LastLayerFeatures {
 public:
  /// `spec` ends in a Linear layer; its tensors are named "network.0.weight", ... Throws
  /// std::invalid_argument for a network that ends in another layer. The message begins with `method`.
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

/// Returns the features of a trained network in the type in which it was trained. They may outlive `network`.
LastLayerFeatures last_layer_features(const TrainedNetwork& network, std::string_view method);

/// Returns the features for the statistics of a posterior. They are float64, so that adding and removing a
/// row use the same numbers, whatever its batch. Two kinds differ by float32 rounding from batch to batch:
/// images use float32, because float64 convolutions take several times as long, and a module uses its own
/// type.
LastLayerFeatures statistics_features(const TrainedNetwork& network, std::string_view method);

/// Returns the number of features of a network: the width before its Linear output layer, plus 1 for a bias.
/// Throws as LastLayerFeatures.
int64_t last_layer_rank(const NetworkSpec& spec, std::string_view method);

/// Returns the trained weights of the output layer with the bias as last column, so that the output is
/// features * weights^T. Float64. [k, r]
at::Tensor output_weights(const TrainedNetwork& network);

/// Returns the features for answers. With `precise` they are those of statistics_features, else those of
/// last_layer_features. Set `precise` if the prior is so wide compared with the noise that the float32
/// rounding of a feature would show in the variance (IdentityPlus without a factor).
LastLayerFeatures answer_features(const TrainedNetwork& network, bool precise, std::string_view method);

/// Returns a model of the gradients of the outputs with respect to all parameters except the last layer's.
/// Computes in `type`; a module computes in its own type.
GradientModel last_layer_gradients(const TrainedNetwork& network, at::ScalarType type = at::kFloat);

/// Whether the rows of this network are images (channels, height, width).
bool takes_images(const TrainedNetwork& network);

}  // namespace slimbayes
