#include "slimbayes/methods/deep_kernel_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

DeepKernelModel::DeepKernelModel(const DeepKernel& kernel, const NetworkSpec& spec,
                                 const Network::Lookup& lookup)
    : network(spec, "backbone", lookup),
      basis(bind_basis(kernel.basis, "basis", lookup)),
      posterior{lookup("posterior.mean"), lookup("posterior.log_diagonal"), lookup("posterior.lower")},
      offset(lookup("offset")),
      log_noise(lookup("log_noise")),
      noise_floor(kernel.noise.noise_floor),
      correction(kernel.correction),
      spec_(spec) {
  const char* method = kernel.method.c_str();
  int64_t r = kernel.rank;
  check(basis->rank() == r && (spec.empty() || basis->inputs() == spec.back().out), method,
        fmt::format("an expansion of rank {} that fits its network", r),
        fmt::format("one of rank {} and {} inputs", basis->rank(), basis->inputs()));
  check_shape(posterior.mean, {r}, method, "posterior.mean");
  check_shape(posterior.log_diagonal, {r}, method, "posterior.log_diagonal");
  check_shape(posterior.lower, {r, r}, method, "posterior.lower");
  check_shape(offset, {}, method, "offset");
  check_shape(log_noise, {}, method, "log_noise");
}

int64_t DeepKernelModel::inputs() const { return spec_.empty() ? basis->inputs() : spec_.front().in; }

Expansion DeepKernelModel::expansion(const at::Tensor& x) const {
  Expansion phi = (*basis)(network(x));
  if (correction != DeepKernel::Correction::kernel) phi.correction = at::Tensor();
  return phi;
}

at::Tensor DeepKernelModel::noise_var() const { return at::exp(log_noise) + noise_floor; }

Latent DeepKernelModel::latent(const at::Tensor& x) const {
  Expansion phi = expansion(x);
  Latent f = posterior.latent(phi.features, offset);
  if (phi.correction.defined()) f.epistemic_var = f.epistemic_var + phi.correction;
  return f;
}

VariationalLoss DeepKernelModel::backward(const at::Tensor& x, const at::Tensor& y, int64_t rows,
                                          const HeadObjective& objective, double focus) const {
  Expansion phi = expansion(x);  // with a graph; everything after it is in closed form
  at::Tensor correction_only = phi.correction.defined() ? phi.correction.detach() : at::Tensor();
  HeadGradient g = head_gradient(phi.features.detach(), correction_only, y, posterior, offset,
                                 noise_var().detach(), rows, objective, focus);
  if (phi.correction.defined()) {
    torch::autograd::backward({phi.features, phi.correction}, {g.grad_features, g.grad_correction});
  } else {
    phi.features.backward(g.grad_features);
  }
  posterior.mean.grad().add_(g.grad_mean);
  posterior.log_diagonal.grad().add_(g.grad_log_diagonal);
  posterior.lower.grad().add_(g.grad_lower);
  offset.grad().add_(g.grad_offset);
  log_noise.grad().add_(g.grad_noise_var * at::exp(log_noise.detach()));
  return g.loss;
}

Parameters deep_kernel_parameters(const DeepKernel& kernel, const NetworkSpec& spec, int64_t inputs,
                                  const Stream& stream) {
  int64_t r = kernel.rank;
  std::vector<ParameterSpec> specs =
      network_parameters(spec, "backbone", "backbone", stream.split("backbone"));
  int64_t hidden = spec.empty() ? inputs : spec.back().out;
  for (ParameterSpec& each :
       basis_parameters(kernel.basis, {hidden, r, "basis", "head", stream.split("basis")})) {
    specs.push_back(std::move(each));
  }
  double size = static_cast<double>(r);
  const NoiseOptions& noise = kernel.noise;
  check(noise.noise_start > noise.noise_floor, kernel.method, "noise_start above noise_floor",
        fmt::format("{} and {}", noise.noise_start, noise.noise_floor));
  double log_noise = std::log(noise.noise_start - noise.noise_floor);
  specs.push_back({"posterior.mean", "head", at::zeros({r}, at::kDouble)});
  specs.push_back({"posterior.log_diagonal", "head", at::full({r}, -0.5 * std::log(size), at::kDouble)});
  specs.push_back({"posterior.lower", "head", stream.split("posterior").normal({r, r}) / size});
  specs.push_back({"offset", "head", at::zeros({}, at::kDouble)});
  specs.push_back({"log_noise", "noise", at::full({}, log_noise, at::kDouble)});
  return Parameters(specs, at::kFloat);
}

}  // namespace slimbayes
