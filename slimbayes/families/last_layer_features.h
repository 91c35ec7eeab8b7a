#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "slimbayes/families/trained_network.h"
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

/// Returns the gradients of its outputs with respect to all parameters but the last layer's, in that type.
GradientModel last_layer_gradients(const TrainedNetwork& network);

}  // namespace slimbayes
