#include "slimbayes/methods/deep_kernel/exact_features.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/objectives/exact_bound.h"

namespace slimbayes {

namespace {

constexpr const char* kFunction = "dbk-exact";

}  // namespace

ExactFeatures::ExactFeatures(const std::string& basis_name, const NoiseOptions& options,
                             const NetworkSpec& spec, const Network::Lookup& lookup)
    : map(basis_name, 0, spec, lookup, kFunction), noise_theta(lookup("log_noise")), noise(options) {
  check(!spec.layers.empty(), kFunction, "a network", "none");
  check_shape(noise_theta, {}, kFunction, "log_noise");
}

double ExactFeatures::noise_var() const { return noise(noise_theta.item<double>()); }

Parameters exact_parameters(const ExactStart& start, const NetworkSpec& spec, const Stream& stream) {
  std::vector<ParameterSpec> specs = feature_parameters(start.basis, start.rank, spec, stream);
  double noise_theta = NoiseVariance(start.noise).start(kFunction);
  specs.push_back({"log_noise", "noise", at::full({}, noise_theta, at::kDouble)});
  return Parameters(specs, at::kFloat);
}

std::vector<ParameterGroup> exact_groups(const Parameters& parameters, const TrainingOptions& training,
                                         const NoiseOptions& noise) {
  return parameter_groups(parameters, {{"network", {training.learning_rate, training.weight_decay}},
                                       {"head", {training.learning_rate}},
                                       {"noise", {noise.noise_rate}}});
}

Input ExactFeatures::input(const Batch& batch) const { return input_of(batch, noise_theta.scalar_type()); }

void check_exact_network(const NetworkSpec& spec, const std::string& method) {
  check(!has_layer<BatchNorm>(spec), method, "a network without batch norms", "one with them",
        "name another `.network`, or another `.method` such as dbk");
}

Batch chunk_of(const Dataset& rows, int64_t low, int64_t size) {
  return rows.rows(at::arange(low, std::min(low + size, rows.size())));
}

double exact_step(const ExactFeatures& model, const Dataset& rows, double alpha, int64_t chunk) {
  const int64_t n = rows.size(), last = (n - 1) / chunk * chunk;
  double scale = -1 / static_cast<double>(n), noise = model.noise_var();
  ExactSums sums = exact_sums(model.map.rank());
  Expansion phi;
  for (int64_t low = 0; low <= last; low += chunk) {
    at::AutoGradMode graph(low == last);  // the second pass begins with the last chunk, so its graph is kept
    const Batch batch = chunk_of(rows, low, chunk);
    phi = model(model.input(batch));
    at::Tensor correction = phi.correction.defined() ? phi.correction.detach() : at::Tensor();
    sums = added(sums, {phi.features.detach(), batch.target.to(phi.features.scalar_type()), {}}, correction,
                 low);
  }
  ExactBound bound = exact_bound(sums, noise, alpha);
  for (int64_t low = last; low >= 0; low -= chunk) {
    const Batch batch = chunk_of(rows, low, chunk);
    if (low != last) phi = model(model.input(batch));
    ExactRowGradient g =
        row_gradient(bound, {phi.features.detach(), batch.target.to(phi.features.scalar_type()), {}}, low);
    at::Tensor grad = g.features.mul_(scale).to(phi.features.scalar_type());
    at::Tensor grad_correction;
    if (phi.correction.defined()) {
      grad_correction = (g.correction * scale).to(phi.correction.scalar_type()).expand_as(phi.correction);
    }
    backward(phi, grad, grad_correction);
  }
  at::Tensor grad_variance = at::full({}, scale * bound.grad_noise_var, model.noise_theta.options());
  model.noise_theta.grad().add_(model.noise.gradient(model.noise_theta, grad_variance));
  return scale * (bound.evidence - bound.penalty);
}

}  // namespace slimbayes
