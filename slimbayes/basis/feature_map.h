#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/basis/basis.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// The features phi(x) = expansion(network(x)) (N section 3.1), bound to the tensors "network.*" and
/// "basis.*". A network without layers is the identity. Throws std::invalid_argument if the network's output
/// per row is not a vector.
class FeatureMap {
 public:
  /// Throws std::invalid_argument if tensors, network and rank do not fit; the message names `method`. If
  /// `rank` is 0, the rank is that of the tensors.
  FeatureMap(const std::string& basis, int64_t rank, const NetworkSpec& spec, const Network::Lookup& lookup,
             const std::string& method, Execution execution = Execution::engine);

  Expansion operator()(const Input& input, const ForwardContext& context = {}) const;
  const Shape& input() const { return input_; }    // shape of an input row
  int64_t rank() const { return basis_->rank(); }  // r
  bool by_engine() const { return engine_ != nullptr ? engine_->trains() : network_.by_engine(); }
  double jitter() const { return basis_->jitter(); }
  std::optional<double> kernel_var() const { return basis_->kernel_var(); }

 private:
  BoundNetwork network_;
  std::shared_ptr<const Basis> basis_;
  std::shared_ptr<const EngineNetwork> engine_;  // network and expansion as one plan; nullptr: one by one
  Shape input_;
};

/// Returns the initial parameters of a FeatureMap: the network in group "network", the expansion in group
/// "head". Float64.
std::vector<ParameterSpec> feature_parameters(const std::string& basis, int64_t rank, const NetworkSpec& spec,
                                              const Stream& stream);

/// Returns c(x), the part of the prior variance of each row that ||phi||^2 does not cover. Prediction adds it
/// to the variance. Float64. [b]
/// - If phi has a correction (N-4), c is that correction. Throws NumericalError if it is negative by more
///   than rounding.
/// - Otherwise, if `largest` is defined, c = max(largest, ||phi||^2) - ||phi||^2, where `largest` (scalar) is
///   the largest ||phi||^2 of the training rows (E-12).
/// - Otherwise c = 0.
RoundedVariance missing_prior_var(const Expansion& phi, const at::Tensor& largest);

/// Backpropagates the gradient of a loss with respect to phi into the gradients of the parameters of
/// expansion and network. grad_features [b, r]; grad_correction [b] or undefined, used only if phi has a
/// correction.
void backward(const Expansion& phi, const at::Tensor& grad_features, const at::Tensor& grad_correction);

}  // namespace slimbayes
