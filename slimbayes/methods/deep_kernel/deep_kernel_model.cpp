#include "slimbayes/methods/deep_kernel/deep_kernel_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/objectives/latent_gradient.h"

namespace slimbayes {

namespace {

using Correction = DeepKernel::Correction;

/// The name of noise_theta in model files. It is the same for every noise_form, although only the form exp
/// trains a logarithm.
constexpr const char* kNoise = "log_noise";
constexpr const char* kDof = "log_dof";  // dof_theta in model files
// count_theta in model files
constexpr const char *kDispersion = "log_dispersion", *kZeros = "zero_logit";
constexpr double kLeastDispersion = 1e-7, kStartDispersion = 0.5, kMostLogDispersion = 9.2;
constexpr double kStartZeros = 0.1, kMostZeroLogit = 12;
constexpr double kLeastDof = 2.05, kStartDof = 5, kMostDof = 1e6;

/// Returns the name of count_theta; nullptr for a likelihood without it.
const char* count_parameter(LikelihoodKind likelihood) {
  if (likelihood == LikelihoodKind::negative_binomial) return kDispersion;
  return likelihood == LikelihoodKind::zero_inflated_poisson ? kZeros : nullptr;
}

/// Returns the correction that this likelihood uses. Correction::largest belongs to the Gaussian likelihood,
/// because E-12 divides by the noise variance; the bound for other likelihoods (paper E, appendix A.5) has no
/// such term.
Correction correction_for(const DeepKernel& kernel, LikelihoodKind likelihood) {
  const bool lost = kernel.correction == Correction::largest && likelihood != LikelihoodKind::gaussian;
  return lost ? Correction::none : kernel.correction;
}

}  // namespace

DeepKernelModel::DeepKernelModel(const DeepKernel& kernel, const NetworkSpec& spec, LikelihoodKind likelihood,
                                 int64_t outputs, const Network::Lookup& lookup, Execution execution)
    : features(kernel.basis, kernel.rank, spec, lookup, kernel.method, execution),
      posterior{lookup("posterior.mean"), lookup("posterior.log_diagonal"), lookup("posterior.lower")},
      offset(lookup("offset")),
      noise(kernel.noise),
      correction(correction_for(kernel, likelihood)),
      engine(execution == Execution::engine ? EngineStep::of(kernel, spec, likelihood, lookup) : nullptr) {
  const char* method = kernel.method.c_str();
  const int64_t r = kernel.rank;
  check_shape(posterior.mean, {outputs, r}, method, "posterior.mean");
  check_shape(posterior.log_diagonal, {outputs, r}, method, "posterior.log_diagonal");
  check_shape(posterior.lower, {outputs, r, r}, method, "posterior.lower");
  check_shape(offset, {outputs}, method, "offset");
  if (const char* name = count_parameter(likelihood)) {
    count_theta = lookup(name);
    check_shape(count_theta, {}, method, name);
  }
  if (task_of(likelihood) != TaskKind::regression) return;
  noise_theta = lookup(kNoise);
  check_shape(noise_theta, {}, method, kNoise);
  if (likelihood != LikelihoodKind::student) return;
  dof_theta = lookup(kDof);
  check_shape(dof_theta, {}, method, kDof);
}

Expansion DeepKernelModel::expansion(const Input& input, const ForwardContext& context) const {
  Expansion phi = features(input, context);
  if (correction != Correction::kernel) phi.correction = at::Tensor();
  return phi;
}

at::Tensor DeepKernelModel::noise_var() const { return noise(noise_theta); }

double DeepKernelModel::dof() const {
  if (!dof_theta.defined()) return INFINITY;
  return std::min(kMostDof, kLeastDof + std::exp(dof_theta.item<double>()));
}

at::Tensor DeepKernelModel::dispersion() const {
  return kLeastDispersion + count_theta.to(at::kDouble).clamp_max(kMostLogDispersion).exp();
}

at::Tensor DeepKernelModel::zero_share() const {
  return at::sigmoid(count_theta.to(at::kDouble).clamp_max(kMostZeroLogit));
}

at::Tensor DeepKernelModel::largest_prior_var(const Dataset& data, const Collective* ranks) const {
  if (correction != Correction::largest) return {};
  const RankRows own = rows_of_rank(data, ranks);
  at::Tensor largest = at::zeros({}, at::dtype(at::kDouble).device(data.device()));
  on_all_ranks(own.ranks, [&] {
    over_batches(own.rows, {}, [&](const Batch& batch) {
      const at::Tensor phi = expansion(input_of(batch)).features.to(at::kDouble);
      largest = at::maximum(largest, phi.square().sum(-1).max());
    });
  });
  return largest_of_ranks(largest, own.ranks);
}

Latent DeepKernelModel::latent(const Input& input, const ForwardContext& context, const at::Tensor& largest,
                               const at::Tensor& factor) const {
  return latent(expansion(input, context), largest, factor);
}

Latent DeepKernelModel::latent(Expansion phi, const at::Tensor& largest, const at::Tensor& factor) const {
  if (correction != Correction::kernel) phi.correction = at::Tensor();
  phi.features =
      phi.features.to(offset.scalar_type());  // in prediction the network is float32, the head float64
  Latent f = factor.defined() ? posterior.latent(phi.features, offset, factor)
                              : posterior.latent(phi.features, offset);
  if (f.epistemic_var.requires_grad()) {
    // In training the correction is added without a check for negative values, which only rounding can cause:
    // rounding errors are small beside the noise of a mini-batch gradient.
    if (phi.correction.defined()) f.epistemic_var = f.epistemic_var + phi.correction.unsqueeze(1);
    return f;
  }
  f.epistemic_var = f.epistemic_var.to(at::kDouble);
  if (phi.correction.defined() || largest.defined()) {
    const RoundedVariance missing = missing_prior_var(phi, largest);  // the same for all k functions
    f.epistemic_var = f.epistemic_var + missing.var.unsqueeze(1);
    f.zeroed = missing.clipped;
  }
  return f;
}

VariationalLoss DeepKernelModel::backward(const Input& input, const at::Tensor& y, double rows,
                                          const HeadObjective& objective, double focus,
                                          const ForwardContext& context, const JoinTotals& join) const {
  std::optional<engine::RegressionLoss> by_engine;
  if (engine && engine->takes(input, y))
    by_engine = engine->run(input.x, y,
                            {objective.data == DataTerm::predictive, objective.alpha, objective.beta / rows,
                             focus, noise(noise_theta.item<double>()), join},
                            context);
  if (by_engine) {
    const auto scalar = [](double value) { return at::scalar_tensor(value, at::kDouble); };
    at::NoGradGuard no_grad;
    noise_theta.grad().add_(noise.gradient(noise_theta.item<double>(), by_engine->grad_noise_var));
    return {scalar(by_engine->data), scalar(by_engine->kl), scalar(by_engine->total)};
  }
  // The network and the expansion need an autograd graph; all gradients after them are in closed form.
  Expansion phi = expansion(input, context);
  at::Tensor correction_only = phi.correction.defined() ? phi.correction.detach() : at::Tensor();
  at::Tensor nu, excess;  // the degrees of freedom; on a device, where nothing is read, theirs over the least
  if (dof_theta.defined() && dof_theta.is_cpu()) {
    nu = at::scalar_tensor(dof(), at::kDouble);
  } else if (dof_theta.defined()) {
    excess = dof_theta.detach().to(at::kDouble).exp();
    nu = (excess + kLeastDof).clamp_max(kMostDof);
  }
  HeadGradient g = head_gradient({phi.features.detach(), correction_only, y, rows, join},
                                 {posterior, offset, noise_var().detach(), nu}, objective, focus);
  slimbayes::backward(phi, g.grad_features, g.grad_correction);
  posterior.mean.grad().add_(g.grad_mean);
  posterior.log_diagonal.grad().add_(g.grad_log_diagonal);
  posterior.lower.grad().add_(g.grad_lower);
  offset.grad().add_(g.grad_offset);
  noise_theta.grad().add_(noise.gradient(noise_theta, g.grad_noise_var));
  if (excess.defined())
    dof_theta.grad().add_((g.grad_dof * excess).to(dof_theta.scalar_type()));
  else if (nu.defined())
    dof_theta.grad().add_(g.grad_dof.item<double>() * std::exp(dof_theta.item<double>()));
  return g.loss;
}

VariationalLoss DeepKernelModel::backward(const Input& input, double rows, double beta,
                                          const std::function<at::Tensor(const Latent& f)>& data,
                                          const ForwardContext& context) const {
  const Expansion phi = expansion(input, context);
  const at::Tensor correction_only = phi.correction.defined() ? phi.correction.detach() : at::Tensor();
  const LatentGradient g =
      latent_gradient(phi.features.detach(), correction_only, offset, {posterior, rows, beta}, data);
  slimbayes::backward(phi, g.grad_features, g.grad_correction);
  posterior.mean.grad().add_(g.grad_mean);
  posterior.log_diagonal.grad().add_(g.grad_log_diagonal);
  posterior.lower.grad().add_(g.grad_lower);
  offset.grad().add_(g.grad_offset);
  return g.loss;
}

Parameters deep_kernel_parameters(const DeepKernel& kernel, const NetworkSpec& spec,
                                  LikelihoodKind likelihood, const at::Tensor& offset, const Stream& stream,
                                  at::Device device) {
  const int64_t r = kernel.rank, k = offset.size(0);
  const double size = static_cast<double>(r);
  std::vector<ParameterSpec> specs = feature_parameters(kernel.basis, r, spec, stream);
  specs.push_back({"posterior.mean", "head", at::zeros({k, r}, at::kDouble)});
  specs.push_back({"posterior.log_diagonal", "head", at::full({k, r}, -0.5 * std::log(size), at::kDouble)});
  specs.push_back({"posterior.lower", "head", stream.split("posterior").normal({k, r, r}) / size});
  specs.push_back({"offset", "head", offset});
  if (task_of(likelihood) == TaskKind::regression)
    specs.push_back(
        {kNoise, "noise", at::full({}, NoiseVariance(kernel.noise).start(kernel.method), at::kDouble)});
  if (likelihood == LikelihoodKind::student)
    specs.push_back({kDof, "noise", at::full({}, std::log(kStartDof - kLeastDof), at::kDouble)});
  if (const char* name = count_parameter(likelihood)) {
    const bool zeros = likelihood == LikelihoodKind::zero_inflated_poisson;
    const double start = std::log(zeros ? kStartZeros / (1 - kStartZeros) : kStartDispersion);
    specs.push_back({name, "noise", at::full({}, start, at::kDouble)});
  }
  return Parameters(specs, at::dtype(at::kFloat).device(device));
}

}  // namespace slimbayes
