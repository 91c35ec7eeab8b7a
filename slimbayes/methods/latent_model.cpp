#include "slimbayes/methods/latent_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

LatentModel::LatentModel(const DeepKernel& kernel, const NetworkSpec& spec, int64_t outputs,
                         const Network::Lookup& lookup)
    : network(spec, "backbone", lookup),
      basis(bind_basis(kernel.basis, "basis", lookup)),
      posterior{lookup("posterior.mean"), lookup("posterior.log_diagonal"), lookup("posterior.lower")},
      offset(lookup("offset")),
      correction(kernel.correction),
      spec_(spec) {
  const char* method = kernel.method.c_str();
  int64_t r = kernel.rank;
  check(basis->rank() == r && (spec.empty() || basis->inputs() == spec.back().out), method,
        fmt::format("an expansion of rank {} that fits its network", r),
        fmt::format("one of rank {} and {} inputs", basis->rank(), basis->inputs()));
  check_shape(posterior.mean, {outputs, r}, method, "posterior.mean");
  check_shape(posterior.log_diagonal, {outputs, r}, method, "posterior.log_diagonal");
  check_shape(posterior.lower, {outputs, r, r}, method, "posterior.lower");
  check_shape(offset, {outputs}, method, "offset");
}

int64_t LatentModel::inputs() const { return spec_.empty() ? basis->inputs() : spec_.front().in; }

Latent LatentModel::latent(const at::Tensor& x) const {
  Expansion phi = (*basis)(network(x));
  Latent f = posterior.latent(phi.features, offset);
  if (correction != DeepKernel::Correction::kernel || !phi.correction.defined()) return f;
  at::Tensor extra = phi.correction;  // k~(x, x) - ||phi||^2, the same for each function [b]
  if (extra.scalar_type() == at::kDouble)
    extra = rounded_variance(extra, extra + phi.features.square().sum(-1)).var;
  f.epistemic_var = f.epistemic_var + extra.unsqueeze(1);
  return f;
}

Parameters latent_parameters(const DeepKernel& kernel, const NetworkSpec& spec, int64_t inputs,
                             const at::Tensor& offset, const Stream& stream) {
  int64_t r = kernel.rank, k = offset.size(0);
  std::vector<ParameterSpec> specs =
      network_parameters(spec, "backbone", "backbone", stream.split("backbone"));
  int64_t hidden = spec.empty() ? inputs : spec.back().out;
  for (ParameterSpec& each :
       basis_parameters(kernel.basis, {hidden, r, "basis", "head", stream.split("basis")})) {
    specs.push_back(std::move(each));
  }
  double size = static_cast<double>(r);
  specs.push_back({"posterior.mean", "head", at::zeros({k, r}, at::kDouble)});
  specs.push_back({"posterior.log_diagonal", "head", at::full({k, r}, -0.5 * std::log(size), at::kDouble)});
  specs.push_back({"posterior.lower", "head", stream.split("posterior").normal({k, r, r}) / size});
  specs.push_back({"offset", "head", offset});
  return Parameters(specs, at::kFloat);
}

}  // namespace slimbayes
