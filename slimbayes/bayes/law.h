#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// A family of distributions of one number with a location and a scale, as posterior of a weight. The functions
/// act element by element; locations and scales have one shape. To add a law, add a row in law.cpp.
struct Law {
  std::string name;
  double sd;  // of the law with scale 1
  /// Returns location + scale * e, where e is a draw of the law with location 0 and scale 1. Differentiable in
  /// location and scale.
  at::Tensor (*draw)(const at::Tensor& location, const at::Tensor& scale, const Stream& stream);
  at::Tensor (*log_density)(const at::Tensor& x, const at::Tensor& location, const at::Tensor& scale);
  /// Returns KL(law || N(0, sd^2)) in closed form.
  at::Tensor (*kl_to_normal)(const at::Tensor& location, const at::Tensor& scale, double sd);
};

/// Returns the law with this name: "gaussian" (scale: its sd), or "laplace" (scale: b, its sd is sqrt(2) b).
/// Throws std::invalid_argument for an unknown name and names the known ones.
const Law& find_law(const std::string& name);

}  // namespace slimbayes
