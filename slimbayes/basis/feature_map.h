#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slimbayes/basis/basis.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// phi(x) = expansion(network(x)) (N section 3.1), bound to the tensors "network.*" and "basis.*"; an empty
/// network is the identity. Throws std::invalid_argument for a network whose rows end in no vector.
class FeatureMap {
 public:
  /// Throws std::invalid_argument in the name of `method` where tensors, network and rank do not fit; a rank
  /// of 0 takes the tensors'.
  FeatureMap(const std::string& basis, int64_t rank, const NetworkSpec& spec, const Network::Lookup& lookup,
             const std::string& method);

  Expansion operator()(const Input& input, const ForwardContext& context = {}) const {
    return (*basis_)(network_(input, context));
  }
  const Shape& input() const { return input_; }  // of a row
  int64_t rank() const { return basis_->rank(); }                                     // r
  double jitter() const { return basis_->jitter(); }

 private:
  Network network_;
  std::shared_ptr<const Basis> basis_;
  Shape input_;
};

/// Its start: the network in group "network", the expansion in "head", float64.
std::vector<ParameterSpec> feature_parameters(const std::string& basis, int64_t rank, const NetworkSpec& spec,
                                              const Stream& stream);

/// c(x), the prior variance that ||phi||^2 lacks, for prediction: phi's own correction (N-4), else the one up
/// to the `largest` prior variance of the training rows (E-12, scalar; the maximum is per row), else 0.
/// float64. [b]
RoundedVariance missing_prior_var(const Expansion& phi, const at::Tensor& largest);

/// Adds a loss's gradient to those of the parameters behind phi. grad_features [b, r]; grad_correction [b] or
/// undefined, used where the expansion has a correction.
void backward(const Expansion& phi, const at::Tensor& grad_features, const at::Tensor& grad_correction);

}  // namespace slimbayes
