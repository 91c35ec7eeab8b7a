#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/nn/network.h"

namespace slimbayes {

/// What the last layer of a network sees and gives.
struct LastLayerRows {
  at::Tensor features;  // [b, r] phi_r, the gradient of an output with respect to the last layer's parameters
  at::Tensor output;    // [b, k] the network's outputs
};

/// A network that is evaluated up to its output layer and then through it. phi_r(x) = (s h(x), t): h are the
/// inputs of the output layer, s and t its multipliers of weights and bias (R equation 5, with mu-P's
/// multipliers). The features of an output without bias are s h(x) alone.
class LastLayerFeatures {
 public:
  /// `spec` ends in a Linear layer; its tensors are named "network.0.weight", ... Throws
  /// std::invalid_argument for a network that ends in another layer, in the name of `method`.
  LastLayerFeatures(const NetworkSpec& spec, const Network::Lookup& lookup, std::string_view method);

  LastLayerRows operator()(const Input& input) const;  // in the type of the tensors
  int64_t rank() const { return rank_; }               // r
  int64_t outputs() const { return outputs_; }         // k

 private:
  Network body_;       // all layers but the last
  at::Tensor weight_;  // [k, h]
  at::Tensor bias_;    // [k]; undefined without bias
  double weight_scale_, bias_scale_;
  int64_t rank_, outputs_;
};

}  // namespace slimbayes
