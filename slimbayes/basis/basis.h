#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
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

/// A feature expansion phi bound to tensors (N section 3.1): a differentiable function of its input and of
/// the parameters to which it is bound.
class Basis {
 public:
  virtual ~Basis() = default;
  virtual Expansion operator()(const at::Tensor& g) const = 0;  // g [b, h]
  virtual int64_t inputs() const = 0;                           // h
  virtual int64_t rank() const = 0;                             // r
  /// Jitter added to the diagonal of the matrix that the expansion factorises, as a share of its mean
  /// diagonal; 0 if it factorises none, or if the plain factorisation succeeded.
  virtual double jitter() const { return 0; }
};

/// What the initial parameters of an expansion depend on. The parameters are named `prefix.*`, belong to
/// `group`, and are float64.
struct BasisStart {
  int64_t hidden;  // h
  int64_t rank;    // r
  std::string prefix, group;
  Stream stream;
};

/// Functions over the table of expansions: silu, rbf, linear, fourier. A new expansion is a file of its own
/// and a row of the table in basis.cpp. basis_parameters returns the initial parameters, bind_basis the
/// expansion bound to the tensors `prefix.*`. Both throw std::invalid_argument for an unknown name.
std::vector<ParameterSpec> basis_parameters(const std::string& name, const BasisStart& start);
std::shared_ptr<const Basis> bind_basis(const std::string& name, const std::string& prefix,
                                        const Network::Lookup& lookup);

}  // namespace slimbayes
