#include "slimbayes/methods/deep_kernel/engine_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string>

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/nn/engine_network.h"

namespace slimbayes {

std::shared_ptr<EngineStep> EngineStep::of(const DeepKernel& kernel, const NetworkSpec& spec,
                                           LikelihoodKind likelihood, const Network::Lookup& lookup) {
  if (!engine_is_available() || likelihood != LikelihoodKind::gaussian ||
      kernel.correction == DeepKernel::Correction::kernel)
    return nullptr;
  const std::shared_ptr<const engine::Plan> plan = feature_plan(kernel.basis, kernel.rank, spec);
  if (!plan) return nullptr;
  std::optional<EngineTensors> tensors = engine_tensors(*plan, lookup);
  const auto has_gradient = [](const at::Tensor& one) { return one.requires_grad(); };
  if (!tensors || !std::ranges::all_of(tensors->tensors, has_gradient)) return nullptr;
  const std::shared_ptr<EngineStep> step(new EngineStep(plan, std::move(*tensors), has_layer<Dropout>(spec)));
  using Values = engine::RegressionHead<const float>;
  using Gradients = engine::RegressionHead<float>;
  struct Part {
    const char* name;
    const float* Values::*value;
    float* Gradients::*gradient;
  };
  for (const Part& part : {Part{"posterior.mean", &Values::mean, &Gradients::mean},
                           {"posterior.log_diagonal", &Values::log_diagonal, &Gradients::log_diagonal},
                           {"posterior.lower", &Values::lower, &Gradients::lower},
                           {"offset", &Values::offset, &Gradients::offset}}) {
    at::Tensor one = lookup(part.name);
    if (!engine_can_bind(one) || !one.requires_grad()) return nullptr;
    step->head_.*part.value = one.const_data_ptr<float>();
    step->head_gradients_.*part.gradient = one.grad().data_ptr<float>();
    step->of_head_.push_back(std::move(one));
  }
  return step;
}

bool EngineStep::takes(const Input& input, const at::Tensor& y, const ForwardContext& context) const {
  const auto plain = [](const at::Tensor& t) {
    return t.device().is_cpu() && t.scalar_type() == at::kFloat && t.is_contiguous() && !t.requires_grad();
  };
  const bool drops = dropout_ && (context.training || context.dropout_draw);
  return !drops && !input.mask.defined() && plain(input.x) && plain(y) && y.dim() == 1 && y.size(0) > 0 &&
         input.x.dim() > 1 && input.x.numel() == y.size(0) * inputs_;
}

engine::RegressionLoss EngineStep::run(const at::Tensor& x, const at::Tensor& y,
                                       const engine::RegressionObjective& objective) {
  return step_.run(tensors_.values, head_, x.const_data_ptr<float>(), y.const_data_ptr<float>(), y.size(0),
                   objective, tensors_.gradients, head_gradients_);
}

}  // namespace slimbayes
