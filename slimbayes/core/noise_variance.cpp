#include "slimbayes/core/noise_variance.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

double NoiseVariance::operator()(double theta) const {
  const std::string& form = options_.noise_form;
  double floor = options_.noise_floor;
  if (form == "variance") return std::max(theta, floor);
  if (form == "sd") return theta > 0 ? std::max(theta * theta, floor) : floor;
  if (form == "softplus") return std::max(theta, 0.0) + std::log1p(std::exp(-std::abs(theta))) + floor;
  return std::exp(theta) + floor;
}

at::Tensor NoiseVariance::operator()(const at::Tensor& theta) const {
  if (options_.noise_form == "exp") return at::exp(theta) + options_.noise_floor;
  if (!theta.is_cpu()) return pending(theta.detach().to(at::kDouble)).to(theta.scalar_type());
  return at::full({}, (*this)(theta.item<double>()), theta.options());
}

at::Tensor NoiseVariance::pending(const at::Tensor& theta) const {
  const std::string& form = options_.noise_form;
  const double floor = options_.noise_floor;
  if (form == "variance") return theta.clamp_min(floor);
  if (form == "sd") return theta.clamp_min(0).square().clamp_min(floor);
  if (form == "softplus") return theta.clamp_min(0) + at::log1p(at::exp(-theta.abs())) + floor;
  return at::exp(theta) + floor;
}

double NoiseVariance::start(const std::string& method) const {
  const std::string& form = options_.noise_form;
  double start = options_.noise_start, floor = options_.noise_floor;
  if (!(start > floor))
    refuse(method, "noise_start above noise_floor", fmt::format("{} and {}", start, floor));
  if (form == "variance" || form == "sd") {
    if (!(floor > 0))
      refuse(method, fmt::format("noise_floor above 0 with noise_form {}", form), fmt::format("{}", floor));
    return form == "sd" ? std::sqrt(start) : start;
  }
  double rest = start - floor;
  return form == "softplus" ? rest + std::log(-std::expm1(-rest)) : std::log(rest);
}

double NoiseVariance::gradient(double theta, double grad_variance) const {
  const std::string& form = options_.noise_form;
  if (form == "exp") return grad_variance * std::exp(theta);
  if (form == "softplus") return grad_variance / (1 + std::exp(-theta));
  const double low = form == "sd" ? std::sqrt(options_.noise_floor) : options_.noise_floor;
  if (theta < low && grad_variance >= 0) return 0;
  return grad_variance * (form == "sd" ? 2 * std::max(theta, low) : 1.0);
}

at::Tensor NoiseVariance::gradient(const at::Tensor& theta, const at::Tensor& grad_variance) const {
  if (!theta.is_cpu())
    return pending_gradient(theta.detach().to(at::kDouble), grad_variance).to(theta.scalar_type());
  return at::full({}, gradient(theta.item<double>(), grad_variance.item<double>()), theta.options());
}

at::Tensor NoiseVariance::pending_gradient(const at::Tensor& theta, const at::Tensor& grad_variance) const {
  const std::string& form = options_.noise_form;
  const at::Tensor g = grad_variance.to(at::kDouble);
  if (form == "exp") return g * at::exp(theta);
  if (form == "softplus") return g * at::sigmoid(theta);
  const double low = form == "sd" ? std::sqrt(options_.noise_floor) : options_.noise_floor;
  const at::Tensor passed = form == "sd" ? g * 2 * theta.clamp_min(low) : g;
  return at::where(at::logical_and(theta < low, g >= 0), 0.0, passed);
}

}  // namespace slimbayes
