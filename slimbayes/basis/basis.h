#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// What an expansion makes of a batch of network outputs.
struct Expansion {
  at::Tensor features;    // phi [b, r], in the type of its input
  at::Tensor correction;  // k~(x, x) - ||phi||^2 [b] (N-4); undefined where phi approximates no kernel k~
};

/// A feature expansion phi bound to tensors (N section 3.1): a differentiable function of its input and of
/// the parameters that it was bound to.
class Basis {
 public:
  virtual ~Basis() = default;
  virtual Expansion operator()(const at::Tensor& g) const = 0;  // g [b, h]
  virtual int64_t inputs() const = 0;                           // h
  virtual int64_t rank() const = 0;                             // r
  /// Added to a factorised diagonal, as a share of its mean; 0 unless the plain factorisation failed.
  virtual double jitter() const { return 0; }
};

/// How an expansion starts: parameters `prefix.*` of `group`, float64.
struct BasisStart {
  int64_t hidden;  // h
  int64_t rank;    // r
  std::string prefix, group;
  Stream stream;
};

/// The explicit table of expansions: silu, rbf, linear, fourier. A new one is a file and a row.
/// Both throw std::invalid_argument for an unknown name.
std::vector<ParameterSpec> basis_parameters(const std::string& name, const BasisStart& start);
std::shared_ptr<const Basis> bind_basis(const std::string& name, const std::string& prefix,
                                        const Network::Lookup& lookup);

}  // namespace slimbayes
