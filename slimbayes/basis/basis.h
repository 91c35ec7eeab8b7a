#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// The output of an expansion for a batch of b network outputs.
struct Expansion {
  at::Tensor features;  // phi [b, r], in the type of its input
  /// k~(x, x) - ||phi||^2 [b] (N-4): the part of the prior variance that phi does not cover. Undefined unless
  /// phi approximates a kernel k~.
  at::Tensor correction;
};

/// A feature expansion (N section 3.1): the function phi from the outputs g of a network to r features. It is
/// bound to parameter tensors, and differentiable in g and in these parameters.
class Basis {
 public:
  virtual ~Basis() = default;
  virtual Expansion operator()(const at::Tensor& g) const = 0;  // phi(g) for g [b, h]
  virtual int64_t inputs() const = 0;                           // h, the width of g
  virtual int64_t rank() const = 0;                             // r, the number of features
  /// Jitter added to the diagonal of the matrix that the expansion factorises, as a share of its mean
  /// diagonal. 0 if the expansion factorises no matrix, or if the factorisation succeeded without jitter.
  virtual double jitter() const { return 0; }
  /// Returns k~(x, x), which is the same for every x, if phi approximates a kernel k~; else nullopt.
  virtual std::optional<double> kernel_var() const { return {}; }
};

/// What the initial parameters of an expansion depend on. The parameters are named `prefix.*`, belong to
/// `group`, and are float64.
struct BasisStart {
  int64_t hidden;  // h, the width of the network's output
  int64_t rank;    // r, the number of features
  std::string prefix, group;
  Stream stream;
};

/// There are four expansions: silu, rbf, linear and fourier. basis_parameters returns the initial parameters
/// of the one called `name`; bind_basis returns this expansion bound to the tensors `prefix.*`. Both throw
/// std::invalid_argument for an unknown name. To add an expansion, add a source file and a row of the table
/// in basis.cpp.
std::vector<ParameterSpec> basis_parameters(const std::string& name, const BasisStart& start);
std::shared_ptr<const Basis> bind_basis(const std::string& name, const std::string& prefix,
                                        const Network::Lookup& lookup);

}  // namespace slimbayes
