#include "slimbayes/methods/deep_kernel/engine_step.h"

#include <ATen/ATen.h>

#include <string>

#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/nn/engine_network.h"

namespace slimbayes {

std::shared_ptr<EngineStep> EngineStep::of(const DeepKernel& kernel, const NetworkSpec& spec,
                                           LikelihoodKind likelihood, const Network::Lookup& lookup) {
  if (!engine_is_available() || kernel.basis != "silu" || likelihood != LikelihoodKind::gaussian ||
      kernel.correction == DeepKernel::Correction::kernel)
    return nullptr;
  auto plan = std::make_shared<engine::Plan>(spec.input.numel());
  if (!plan->append(spec, "network").empty()) return nullptr;
  plan->append_dense("basis.weight", "basis.bias", kernel.rank);
  plan->append_activation(engine::ActivationStep::Function::silu);
  plan->append_scale("basis.scale");
  const std::shared_ptr<EngineStep> step(new EngineStep(plan, has_layer<Dropout>(spec)));
  const auto add = [&](const std::string& name) {
    at::Tensor one = lookup(name);
    const bool there = engine_can_bind(one) && one.requires_grad();
    if (there) step->tensors_.push_back(std::move(one));
    return there;
  };
  for (const std::string& name : plan->tensors()) {
    if (!add(name)) return nullptr;
    step->values_.push_back(step->tensors_.back().const_data_ptr<float>());
    step->gradients_.push_back(step->tensors_.back().grad().data_ptr<float>());
  }
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
    if (!add(part.name)) return nullptr;
    step->head_.*part.value = step->tensors_.back().const_data_ptr<float>();
    step->head_gradients_.*part.gradient = step->tensors_.back().grad().data_ptr<float>();
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
  return step_.run(values_, head_, x.const_data_ptr<float>(), y.const_data_ptr<float>(), y.size(0), objective,
                   gradients_, head_gradients_);
}

}  // namespace slimbayes
