#include "slimbayes/answers/likelihood.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "slimbayes/answers/density.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/student.h"

namespace slimbayes {

namespace {

const double kLog2Pi = std::log(2 * std::numbers::pi);

void check_rows(const Latent& f, const at::Tensor& noise_var, const char* function) {
  check_shape(f.mean, {-1}, function, "mean");
  check_shape(f.epistemic_var, {f.mean.size(0)}, function, "epistemic_var");
  if (noise_var.defined() && noise_var.dim() == 0) return;
  check_shape(noise_var, {f.mean.size(0)}, function, "noise_var (or a scalar)");
}

}  // namespace

at::Tensor GaussianLikelihood::expected_log_prob(const Latent& f, const at::Tensor& y) const {
  check_rows(f, noise_var, "expected_log_prob");
  check_shape(y, {f.mean.size(0)}, "expected_log_prob", "y");
  return -0.5 * (kLog2Pi + noise_var.log() + ((y - f.mean).square() + f.epistemic_var) / noise_var);
}

at::Tensor GaussianLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  check_rows(f, noise_var, "log_predictive");
  check_shape(y, {f.mean.size(0)}, "log_predictive", "y");
  at::Tensor var = f.epistemic_var + noise_var;
  return -0.5 * (kLog2Pi + var.log() + (y - f.mean).square() / var);
}

Predictive GaussianLikelihood::predictive(const Latent& f) const {
  check_rows(f, noise_var, "predictive");
  at::Tensor mean = f.mean.detach().to(at::kDouble);
  const at::Tensor noise = noise_var.dim() == 0
                               ? at::full(mean.sizes(), noise_var.item<double>(), mean.options())
                               : noise_var.detach().to(at::kDouble);
  return Regression{mean, noise, f.epistemic_var.detach().to(at::kDouble), f.zeroed};
}

at::Tensor StudentLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  if (!(dof > 2)) refuse("log_predictive", "more than 2 degrees of freedom", fmt::format("{}", dof));
  if (std::isinf(dof)) return GaussianLikelihood{noise_var}.log_predictive(f, y);
  check_rows(f, noise_var, "log_predictive");
  check_shape(y, {f.mean.size(0)}, "log_predictive", "y");
  const at::Tensor square = (f.epistemic_var + noise_var) * ((dof - 2) / dof);  // of the scale
  return student_log_density((y - f.mean) / square.sqrt(), dof) - 0.5 * square.log();
}

Predictive StudentLikelihood::predictive(const Latent& f) const {
  auto p = std::get<Regression>(GaussianLikelihood{noise_var}.predictive(f));
  if (std::isinf(dof)) return p;
  Regression heavy = mixed({{1, p.mean, p.aleatoric_var, p.epistemic_var, dof}});
  heavy.zeroed = p.zeroed;
  return heavy;
}

}  // namespace slimbayes
