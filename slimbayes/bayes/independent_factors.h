#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/bayes/structure.h"

namespace slimbayes {

/// A random tensor whose numbers are independent.
struct Factor {
  std::string name;
  std::vector<int64_t> sizes;
  bool tokens = false;  // its first axis are the tokens of an embedding
};

/// What distinguishes one structure of independent factors from another.
struct FactorForm {
  std::vector<Factor> factors;
  /// Returns the initial location of a factor, by its place. `start` as in Structure::parameters.
  std::function<at::Tensor(size_t factor, const at::Tensor& start, const Stream& stream)> start;
  /// Makes the map of the drawn factors; `tokens` as in SiteDraw.
  std::function<LinearMap(const std::vector<at::Tensor>& drawn, const at::Tensor& tokens)> map;
};

/// Returns the structure whose factors have independent numbers with the law and prior of `plan`. A factor NAME
/// has two parameters: its locations NAME and its untransformed scales NAME.spread, scale = softplus(spread).
std::unique_ptr<const Structure> independent_factors(const SitePlan& plan, double rate, FactorForm form);

}  // namespace slimbayes
