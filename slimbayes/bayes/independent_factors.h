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

/// What defines a structure of independent factors: its factors, the initial locations of each, and how the
/// drawn factors make a matrix.
struct FactorForm {
  std::vector<Factor> factors;
  /// Returns the initial locations of factor number `factor`. `start` holds the values with which the site's
  /// tensor would start in a deterministic network.
  std::function<at::Tensor(size_t factor, const at::Tensor& start, const Stream& stream)> start;
  /// Makes the matrix from the drawn factors. `tokens` are the tokens of an embedding whose rows were drawn;
  /// undefined: all.
  std::function<LinearMap(const std::vector<at::Tensor>& drawn, const at::Tensor& tokens)> map;
};

/// Returns a structure of these factors. Every element of a factor has the law and the prior of `plan`. A
/// factor NAME has two parameters: its locations NAME, and its unconstrained scales NAME.spread, where scale
/// = softplus(spread). `rate` multiplies the learning rate of both.
std::unique_ptr<const Structure> independent_factors(const SitePlan& plan, double rate, FactorForm form);

}  // namespace slimbayes
