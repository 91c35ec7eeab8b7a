#include "slimbayes/basis/feature_map.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/engine/feature_spec.h"

namespace slimbayes {

namespace {

/// Returns the width of the network's output. Throws std::invalid_argument if it is not a vector.
int64_t width_of(const NetworkSpec& spec) {
  const Shape out = output(spec);
  if (!out.is_vector()) refuse("network", "a network that ends in a vector", text_of(out));
  return out.width();
}

}  // namespace

FeatureMap::FeatureMap(const std::string& basis, int64_t rank, const NetworkSpec& spec,
                       const Network::Lookup& lookup, const std::string& method, Execution execution)
    : network_(spec, "network", lookup, execution),
      basis_(bind_basis(basis, "basis", lookup)),
      input_(spec.input) {
  const int64_t r = rank > 0 ? rank : basis_->rank();
  if (basis_->rank() != r || basis_->inputs() != width_of(spec))
    refuse(method, fmt::format("an expansion of rank {} that fits its network", r),
           fmt::format("one of rank {} and {} inputs", basis_->rank(), basis_->inputs()));
  if (execution != Execution::engine) return;
  if (auto plan = engine::feature_plan(basis, r, spec)) engine_ = EngineNetwork::of(std::move(plan), lookup);
}

Expansion FeatureMap::operator()(const Input& input, const ForwardContext& context) const {
  if (engine_) {
    const at::Tensor rows = engine_->rows_of(input.x, input.mask, context.training, drops(context));
    if (rows.defined())
      return {(*engine_)(rows, dropout_factors(engine_->dropouts(), rows.size(0), context)), {}};
  }
  return (*basis_)(network_(input, context));
}

std::vector<ParameterSpec> feature_parameters(const std::string& basis, int64_t rank, const NetworkSpec& spec,
                                              const Stream& stream) {
  std::vector<ParameterSpec> specs = network_parameters(spec, "network", "network", stream.split("backbone"));
  for (ParameterSpec& each :
       basis_parameters(basis, {width_of(spec), rank, "basis", "head", stream.split("basis")}))
    specs.push_back(std::move(each));
  return specs;
}

RoundedVariance missing_prior_var(const Expansion& phi, const at::Tensor& largest) {
  at::Tensor prior_var = phi.features.to(at::kDouble).square().sum(-1);
  if (phi.correction.defined()) {
    // Rounding to the network's type kept the sign of the correction, so its sign can be checked here.
    at::Tensor correction = phi.correction.to(at::kDouble);
    return rounded_variance(correction, correction + prior_var);
  }
  if (largest.defined()) return {at::maximum(largest, prior_var) - prior_var, 0};
  return {at::zeros_like(prior_var), 0};
}

void backward(const Expansion& phi, const at::Tensor& grad_features, const at::Tensor& grad_correction) {
  if (phi.correction.defined() && grad_correction.defined()) {
    torch::autograd::backward({phi.features, phi.correction}, {grad_features, grad_correction});
  } else {
    phi.features.backward(grad_features);
  }
}

}  // namespace slimbayes
