#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "slimbayes/catalog/gaussian_options.h"

namespace slimbayes {

/// The noise variance of a Gaussian likelihood as a function of its trained scalar theta, by noise_form:
/// exp        exp(theta) + floor
/// softplus   log(1 + exp(theta)) + floor
/// variance   max(theta, floor)
/// sd         max(theta, sqrt(floor))^2
class NoiseVariance {
 public:
  explicit NoiseVariance(const NoiseOptions& options) : options_(options) {}

  double operator()(double theta) const;
  at::Tensor operator()(
      const at::Tensor& theta) const;  // scalar, in theta's type; differentiable for exp alone

  /// theta at noise_start. Throws std::invalid_argument in the name of `method` unless noise_start >
  /// noise_floor, and for a floor of 0 where the variance is clamped.
  double start(const std::string& method) const;

  /// The loss's derivative in theta from that in the variance, scalars. Below the floor, where the clamp is
  /// flat, one that leads back up passes as it would at the floor, so that the noise does not stay there for
  /// good.
  at::Tensor gradient(const at::Tensor& theta, const at::Tensor& grad_variance) const;

 private:
  NoiseOptions options_;
};

}  // namespace slimbayes
