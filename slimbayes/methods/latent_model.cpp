#include "slimbayes/methods/latent_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

LatentModel::LatentModel(const DeepKernel& kernel, const NetworkSpec& spec, int64_t outputs,
                         const Network::Lookup& lookup)
    : features(kernel.basis, kernel.rank, spec, lookup, kernel.method),
      posterior{lookup("posterior.mean"), lookup("posterior.log_diagonal"), lookup("posterior.lower")},
      offset(lookup("offset")),
      correction(kernel.correction) {
  const char* method = kernel.method.c_str();
  int64_t r = kernel.rank;
  check_shape(posterior.mean, {outputs, r}, method, "posterior.mean");
  check_shape(posterior.log_diagonal, {outputs, r}, method, "posterior.log_diagonal");
  check_shape(posterior.lower, {outputs, r, r}, method, "posterior.lower");
  check_shape(offset, {outputs}, method, "offset");
}

Latent LatentModel::latent(const at::Tensor& x) const {
  Expansion phi = features(x);
  Latent f = posterior.latent(phi.features, offset);
  if (correction != DeepKernel::Correction::kernel || !phi.correction.defined()) return f;
  // The same for each function. A step in float32 takes it as it comes: rounding is part of its gradient's noise.
  RoundedVariance extra{phi.correction, 0};
  if (extra.var.scalar_type() == at::kDouble) extra = missing_prior_var(phi, {});
  f.epistemic_var = f.epistemic_var + extra.var.unsqueeze(1);
  f.zeroed = extra.clipped;
  return f;
}

Parameters latent_parameters(const DeepKernel& kernel, const NetworkSpec& spec, int64_t inputs,
                             const at::Tensor& offset, const Stream& stream) {
  int64_t r = kernel.rank, k = offset.size(0);
  std::vector<ParameterSpec> specs = feature_parameters(kernel.basis, r, spec, inputs, stream);
  double size = static_cast<double>(r);
  specs.push_back({"posterior.mean", "head", at::zeros({k, r}, at::kDouble)});
  specs.push_back({"posterior.log_diagonal", "head", at::full({k, r}, -0.5 * std::log(size), at::kDouble)});
  specs.push_back({"posterior.lower", "head", stream.split("posterior").normal({k, r, r}) / size});
  specs.push_back({"offset", "head", offset});
  return Parameters(specs, at::kFloat);
}

}  // namespace slimbayes
