#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/bayes/weight_plan.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/model/model.h"
#include "slimbayes/nn/binding.h"

namespace slimbayes {

/// A network inside a model, as the model file stores it.
struct ModelNetwork {
  std::string name;                // "" or, in an ensemble, "member 1"
  NetworkFile file;                // layers, head, and the tensors of the method
  std::optional<WeightPlan> plan;  // of a method with random weights
  /// Whether the outputs are the location of the answers: the mean of a regression, logits, log rates. False
  /// for a deep kernel, whose network makes features; for swag, whose answers average other weights; and for
  /// bll and rich-bll with mean = "posterior", whose answers add a term (NetworkUse::corrected).
  bool answers = false;
  /// Whether the answers average over a distribution around the outputs (draws of the weights or Gaussian
  /// logits, NetworkUse::averaged) or over the members of an ensemble.
  bool averaged = false;
};

/// Returns the networks of a model that have a matrix; none for a method without a network. An ensemble has
/// one for each member.
std::vector<ModelNetwork> networks_of(const Model& model);

/// Returns networks_of(), and throws std::invalid_argument if there are none. `command` is the name in the
/// message.
std::vector<ModelNetwork> some_networks_of(const Model& model, const std::string& command);

/// Returns the weights of the network in float64; if they are random, their means (E[W] = E[A] E[B]^T for a
/// product of independent factors).
Binding mean_weights(const ModelNetwork& network);

}  // namespace slimbayes
