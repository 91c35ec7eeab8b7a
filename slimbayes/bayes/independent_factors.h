#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/bayes/structure.h"

namespace slimbayes {

/// A random tensor whose elements are independent.
struct Factor {
  std::string name;
  std::vector<int64_t> sizes;
  bool tokens = false;  // whether its first axis runs over the tokens of an embedding
};

/// What distinguishes one structure of independent factors from another: its factors, their start and their
/// map.
struct FactorForm {
  std::vector<Factor> factors;
  /// Returns the initial locations of factor number `factor`. `start` as in Structure::parameters.
  std::function<at::Tensor(size_t factor, const at::Tensor& start, const Stream& stream)> start;
  /// Makes the map from the drawn factors. `tokens` as in SiteDraw.
  std::function<LinearMap(const std::vector<at::Tensor>& drawn, const at::Tensor& tokens)> map;
};

/// Returns a structure of these factors. Every element of a factor has the law and the prior of `plan`. A
/// factor NAME has two parameters: its locations NAME, and its unconstrained scales NAME.spread with scale =
/// softplus(spread).
std::unique_ptr<const Structure> independent_factors(const SitePlan& plan, double rate, FactorForm form);

}  // namespace slimbayes
