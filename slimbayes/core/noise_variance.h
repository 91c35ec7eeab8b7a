#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "slimbayes/catalog/noise_options.h"

namespace slimbayes {

/// The noise variance of a Gaussian likelihood as a function of the scalar theta that the optimiser trains.
/// The option noise_form chooses the function, and noise_floor is the floor:
/// exp        exp(theta) + floor
/// softplus   log(1 + exp(theta)) + floor
/// variance   max(theta, floor)
/// sd         max(theta, sqrt(floor))^2
class NoiseVariance {
 public:
  explicit NoiseVariance(const NoiseOptions& options) : options_(options) {}

  double operator()(double theta) const;
  /// Returns the noise variance as a scalar tensor of theta's type and device. Only the form exp is
  /// differentiable; for the other forms use gradient(). On another device than the CPU nothing is read from
  /// it, here and in gradient(), so that a step does not wait.
  at::Tensor operator()(const at::Tensor& theta) const;

  /// Returns the initial theta, at which the noise variance is noise_start. Throws std::invalid_argument
  /// unless noise_start > noise_floor, and if the floor is 0 with the form variance or sd, which would allow
  /// a variance of 0. `method` is the name in the message.
  double start(const std::string& method) const;

  /// Returns the derivative of the loss with respect to theta, computed from grad_variance, the derivative
  /// with respect to the variance (both scalars). In the forms variance and sd the function is constant below
  /// the floor, where the true derivative is 0 and theta could never return. A gradient that would raise
  /// theta is therefore passed on with the value that it has at the floor; for one that would lower theta, 0
  /// is returned.
  double gradient(double theta, double grad_variance) const;
  at::Tensor gradient(const at::Tensor& theta, const at::Tensor& grad_variance) const;

  /// Return the variance and gradient() of a scalar theta in float64 by tensor operations, which read
  /// nothing.
  at::Tensor pending(const at::Tensor& theta) const;
  at::Tensor pending_gradient(const at::Tensor& theta, const at::Tensor& grad_variance) const;

 private:
  NoiseOptions options_;
};

}  // namespace slimbayes
