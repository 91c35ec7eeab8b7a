#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/bayes/structure.h"

namespace slimbayes {

/// A tensor behind a random matrix. Its elements are random and independent, or trained like ordinary
/// weights.
struct Factor {
  std::string name;
  std::vector<int64_t> sizes;
  bool tokens = false;  // whether its first axis runs over the tokens of an embedding
  bool random = true;   // false: the factor is one trained tensor without a law, a prior and a KL
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
  /// Whether the matrix is its only factor, so that the outputs of a layer may be drawn in place of the
  /// weights (DrawContext::local).
  bool local = false;
};

/// Returns a structure of these factors. Every element of a random factor has the law and the prior of
/// `plan`. A random factor NAME has two parameters: its locations NAME, and its unconstrained scales
/// NAME.spread, where scale = softplus(spread). At the start every scale is plan.start_scale or, if
/// plan.start_ratio is above 0, that share of the root mean square of the factor's locations. A factor that
/// is not random has the parameter NAME alone. `rate` multiplies the learning rates.
std::unique_ptr<const Structure> independent_factors(const SitePlan& plan, double rate, FactorForm form);

}  // namespace slimbayes
