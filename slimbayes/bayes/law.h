#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// A family of distributions of one number, given by a location and a scale. The posterior of every random
/// weight belongs to such a family. The functions work element by element on locations and scales of one
/// shape. To add a law, add a row in law.cpp.
struct Law {
  std::string name;
  double sd;  // standard deviation at scale 1
  /// Returns location + scale * e, where e is a draw of the law with location 0 and scale 1. Differentiable
  /// in location and scale.
  at::Tensor (*draw)(const at::Tensor& location, const at::Tensor& scale, const Stream& stream);
  at::Tensor (*log_density)(const at::Tensor& x, const at::Tensor& location, const at::Tensor& scale);
  /// Returns KL(law || N(0, sd^2)) of each element in closed form.
  at::Tensor (*kl_to_normal)(const at::Tensor& location, const at::Tensor& scale, double sd);
};

/// Returns the law of this name: "gaussian" (the scale is the sd) or "laplace" (the scale is b, the sd is
/// sqrt(2) b). Throws std::invalid_argument for an unknown name; the message lists the known names.
const Law& find_law(const std::string& name);

}  // namespace slimbayes
