#include "slimbayes/methods/deep_kernel_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

DeepKernelModel::DeepKernelModel(const DeepKernel& kernel, const NetworkSpec& spec,
                                 const Network::Lookup& lookup)
    : features(kernel.basis, kernel.rank, spec, lookup, kernel.method),
      posterior{lookup("posterior.mean"), lookup("posterior.log_diagonal"), lookup("posterior.lower")},
      offset(lookup("offset")),
      noise_theta(lookup("log_noise")),  // the name in model files, older than the other forms
      noise(kernel.noise),
      correction(kernel.correction) {
  const char* method = kernel.method.c_str();
  int64_t r = kernel.rank;
  check_shape(posterior.mean, {r}, method, "posterior.mean");
  check_shape(posterior.log_diagonal, {r}, method, "posterior.log_diagonal");
  check_shape(posterior.lower, {r, r}, method, "posterior.lower");
  check_shape(offset, {}, method, "offset");
  check_shape(noise_theta, {}, method, "log_noise");
}

Expansion DeepKernelModel::expansion(const at::Tensor& x) const {
  Expansion phi = features(x);
  if (correction != DeepKernel::Correction::kernel) phi.correction = at::Tensor();
  return phi;
}

at::Tensor DeepKernelModel::noise_var() const { return noise(noise_theta); }

at::Tensor DeepKernelModel::largest_prior_var(const at::Tensor& x) const {
  if (correction != DeepKernel::Correction::largest) return {};
  at::NoGradGuard no_grad;
  at::Tensor largest = at::zeros({}, at::kDouble);
  for (const at::Tensor& some : x.split(4096)) {
    at::Tensor phi = expansion(some.to(offset.scalar_type())).features.to(at::kDouble);
    largest = at::maximum(largest, phi.square().sum(-1).max());
  }
  return largest;
}

Latent DeepKernelModel::latent(const at::Tensor& x, const at::Tensor& largest) const {
  Expansion phi = expansion(x);
  Latent f = posterior.latent(phi.features, offset);
  f.epistemic_var = f.epistemic_var + missing_prior_var(phi, largest).var;
  return f;
}

VariationalLoss DeepKernelModel::backward(const at::Tensor& x, const at::Tensor& y, int64_t rows,
                                          const HeadObjective& objective, double focus) const {
  Expansion phi = expansion(x);  // with a graph; everything after it is in closed form
  at::Tensor correction_only = phi.correction.defined() ? phi.correction.detach() : at::Tensor();
  HeadGradient g = head_gradient(phi.features.detach(), correction_only, y, posterior, offset,
                                 noise_var().detach(), rows, objective, focus);
  slimbayes::backward(phi, g.grad_features, g.grad_correction);
  posterior.mean.grad().add_(g.grad_mean);
  posterior.log_diagonal.grad().add_(g.grad_log_diagonal);
  posterior.lower.grad().add_(g.grad_lower);
  offset.grad().add_(g.grad_offset);
  noise_theta.grad().add_(noise.gradient(noise_theta, g.grad_noise_var));
  return g.loss;
}

Parameters deep_kernel_parameters(const DeepKernel& kernel, const NetworkSpec& spec, int64_t inputs,
                                  const Stream& stream) {
  int64_t r = kernel.rank;
  std::vector<ParameterSpec> specs = feature_parameters(kernel.basis, r, spec, inputs, stream);
  double size = static_cast<double>(r);
  double noise_theta = NoiseVariance(kernel.noise).start(kernel.method);
  specs.push_back({"posterior.mean", "head", at::zeros({r}, at::kDouble)});
  specs.push_back({"posterior.log_diagonal", "head", at::full({r}, -0.5 * std::log(size), at::kDouble)});
  specs.push_back({"posterior.lower", "head", stream.split("posterior").normal({r, r}) / size});
  specs.push_back({"offset", "head", at::zeros({}, at::kDouble)});
  specs.push_back({"log_noise", "noise", at::full({}, noise_theta, at::kDouble)});
  return Parameters(specs, at::kFloat);
}

}  // namespace slimbayes
