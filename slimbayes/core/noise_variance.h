#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "slimbayes/catalog/noise_options.h"

namespace slimbayes {

/// The noise variance of a Gaussian likelihood as a function of its trained scalar theta. The option
/// noise_form chooses the function:
/// exp        exp(theta) + floor
/// softplus   log(1 + exp(theta)) + floor
/// variance   max(theta, floor)
/// sd         max(theta, sqrt(floor))^2
class NoiseVariance {
 public:
  explicit NoiseVariance(const NoiseOptions& options) : options_(options) {}

  double operator()(double theta) const;
  /// Returns the noise variance as a scalar in theta's type. Differentiable for the form exp alone; for the
  /// others use gradient().
  at::Tensor operator()(const at::Tensor& theta) const;

  /// Returns the theta whose noise variance is noise_start. Throws std::invalid_argument in the name of
  /// `method` unless noise_start > noise_floor, and for a floor of 0 with the forms variance and sd, which
  /// clamp.
  double start(const std::string& method) const;

  /// Returns the derivative of the loss with respect to theta, given its derivative with respect to the
  /// variance (scalars). Below the floor the clamped function is flat, and its true derivative is 0. A
  /// gradient that would raise theta is nevertheless passed on, with the value that it has at the floor, so
  /// that the noise can leave the floor again.
  at::Tensor gradient(const at::Tensor& theta, const at::Tensor& grad_variance) const;

 private:
  NoiseOptions options_;
};

}  // namespace slimbayes
