#include "slimbayes/methods/deep_kernel/engine_step.h"

#include <ATen/ATen.h>

#include <string>

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/engine/feature_spec.h"
#include "slimbayes/nn/engine_network.h"

namespace slimbayes {

namespace {

/// Returns the plan of the network, with the expansion `silu` if the kernel has it; nullptr if a plan cannot
/// compute it.
std::shared_ptr<const engine::Plan> plan_of(const DeepKernel& kernel, const NetworkSpec& spec) {
  if (kernel.basis != "rbf") {
    const bool corrected = kernel.correction == DeepKernel::Correction::kernel;
    return corrected ? nullptr : engine::feature_plan(kernel.basis, kernel.rank, spec);
  }
  auto plan = std::make_shared<engine::Plan>(spec.input.numel());
  return plan->append(spec, "network").empty() ? plan : nullptr;
}

engine::RegressionStep step_of(const DeepKernel& kernel, std::shared_ptr<const engine::Plan> plan) {
  using engine::RegressionStep;
  if (kernel.basis != "rbf") return {std::move(plan), kernels::kernels()};
  const bool corrected = kernel.correction == DeepKernel::Correction::kernel;
  return {std::move(plan), kernel.rank,
          corrected ? RegressionStep::Correction::kernel : RegressionStep::Correction::none,
          kernels::kernels()};
}

}  // namespace

EngineStep::EngineStep(const DeepKernel& kernel, std::shared_ptr<const engine::Plan> plan)
    : plan_(std::move(plan)), step_(step_of(kernel, plan_)) {}

bool EngineStep::bind(const std::string& name, const Network::Lookup& lookup, const float*& value,
                      float*& gradient) {
  at::Tensor one = lookup(name);
  if (!engine_can_bind(one) || !one.requires_grad()) return false;
  value = one.const_data_ptr<float>();
  gradient = one.grad().data_ptr<float>();
  tensors_.push_back(std::move(one));
  return true;
}

std::shared_ptr<EngineStep> EngineStep::of(const DeepKernel& kernel, const NetworkSpec& spec,
                                           LikelihoodKind likelihood, const Network::Lookup& lookup) {
  if (!engine_is_available() || likelihood != LikelihoodKind::gaussian) return nullptr;
  const std::shared_ptr<const engine::Plan> plan = plan_of(kernel, spec);
  if (!plan || !plan->trains()) return nullptr;
  const std::shared_ptr<EngineStep> step(new EngineStep(kernel, plan));
  step->values_.resize(plan->tensors().size());
  step->gradients_.resize(plan->tensors().size());
  for (size_t i = 0; i < plan->tensors().size(); ++i)
    if (!step->bind(plan->tensors()[i], lookup, step->values_[i], step->gradients_[i])) return nullptr;
  auto& head = step->head_;
  auto& grads = step->head_gradients_;
  bool all = step->bind("posterior.mean", lookup, head.mean, grads.mean) &&
             step->bind("posterior.log_diagonal", lookup, head.log_diagonal, grads.log_diagonal) &&
             step->bind("posterior.lower", lookup, head.lower, grads.lower) &&
             step->bind("offset", lookup, head.offset, grads.offset);
  if (kernel.basis == "rbf") {
    auto& points = head.inducing;
    auto& to = grads.inducing;
    all = all && step->bind("basis.inducing_points", lookup, points.points, to.points) &&
          step->bind("basis.log_lengthscale", lookup, points.log_lengthscale, to.log_lengthscale) &&
          step->bind("basis.log_amplitude", lookup, points.log_amplitude, to.log_amplitude);
  }
  return all ? step : nullptr;
}

bool EngineStep::takes(const Input& input, const at::Tensor& y) const {
  const auto plain = [](const at::Tensor& t) {
    return t.device().is_cpu() && t.scalar_type() == at::kFloat && t.is_contiguous() && !t.requires_grad();
  };
  return !input.mask.defined() && plain(input.x) && plain(y) && y.dim() == 1 && y.size(0) > 0 &&
         input.x.dim() > 1 && input.x.numel() == y.size(0) * plan_->inputs();
}

std::optional<engine::RegressionLoss> EngineStep::run(const at::Tensor& x, const at::Tensor& y,
                                                      const engine::RegressionObjective& objective,
                                                      const ForwardContext& context) {
  const std::vector<at::Tensor> factors = dropout_factors(plan_->dropouts(), y.size(0), context);
  return step_.run(values_, head_, x.const_data_ptr<float>(), y.const_data_ptr<float>(), y.size(0), objective,
                   gradients_, head_gradients_, pointers_of(factors), on_library_threads);
}

}  // namespace slimbayes
