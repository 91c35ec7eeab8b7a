#include "slimbayes/nn/engine_network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "slimbayes/core/threads.h"
#include "slimbayes/engine/tape.h"

namespace slimbayes {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool is_plain(const at::Tensor& x) {
  return x.defined() && x.device().is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous();
}

}  // namespace

bool engine_is_available() {
  const char* engine = std::getenv("SLIMBAYES_ENGINE");
  return !(engine != nullptr && std::string_view(engine) == "libtorch") && !kernels::all_kernels().empty();
}

bool engine_can_bind(const at::Tensor& tensor) {
  if (!is_plain(tensor)) return false;
  return !tensor.requires_grad() || (tensor.is_leaf() && tensor.grad().defined() && is_plain(tensor.grad()));
}

at::Tensor token_rows(const at::Tensor& x, const at::Tensor& mask, int64_t longest, int64_t vocabulary) {
  const bool fits = x.defined() && x.scalar_type() == at::kLong && x.dim() == 2 && x.size(1) <= longest &&
                    x.device().is_cpu() && (!mask.defined() || mask.device().is_cpu());
  if (!fits || (x.numel() > 0 && (x.min().item<int64_t>() < 0 || x.max().item<int64_t>() >= vocabulary)))
    return {};
  const at::Tensor there = x != 0;
  if (!(mask.defined() ? at::equal(mask, there) : there.all().item<bool>())) return {};
  return at::constant_pad_nd(x.to(at::kFloat), {0, longest - x.size(1)});
}

std::vector<const float*> pointers_of(const std::vector<at::Tensor>& tensors) {
  std::vector<const float*> all;
  for (const at::Tensor& each : tensors) all.push_back(each.const_data_ptr<float>());
  return all;
}

std::optional<EngineTensors> engine_tensors(const engine::Plan& plan, const Binding::Lookup& lookup) {
  if (!engine_is_available()) return std::nullopt;
  EngineTensors all;
  for (const std::string& name : plan.tensors()) {
    const at::Tensor& one = all.tensors.emplace_back(lookup(name));
    if (!engine_can_bind(one)) return std::nullopt;
    all.values.push_back(one.const_data_ptr<float>());
    const bool trained = one.requires_grad();
    all.gradients.push_back(trained ? one.grad().data_ptr<float>() : nullptr);
    all.trained = all.trained || trained;
  }
  return all;
}

/// A pass that backward() follows: the network and its tape.
struct KeptPass : torch::CustomClassHolder {
  std::shared_ptr<const EngineNetwork> network;
  std::unique_ptr<engine::Tape> tape;

  ~KeptPass() override { network->give_back(std::move(tape)); }
};

/// The node of a pass in the graph of autograd. `leaf` only makes the result part of a graph; its own
/// gradient stays undefined.
struct EnginePass : torch::autograd::Function<EnginePass> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& leaf, const at::Tensor& y,
                            const c10::intrusive_ptr<KeptPass>& pass) {
    context->saved_data["pass"] = c10::IValue::make_capsule(pass);
    return y.view(y.sizes());
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (grads[0].defined()) {
      const at::Tensor g = grads[0].contiguous();
      const auto pass = c10::static_intrusive_pointer_cast<KeptPass>(context->saved_data["pass"].toCapsule());
      pass->tape->backward(g.const_data_ptr<float>(), g.size(1), pass->network->tensors_.gradients,
                           on_library_threads);
    }
    return {at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

std::shared_ptr<const EngineNetwork> EngineNetwork::of(const NetworkSpec& spec, const NetworkLayout& layout,
                                                       const Binding& binding) {
  if (!engine_is_available() || layout.tensors.empty()) return nullptr;
  auto plan = std::make_shared<engine::Plan>(spec.input.numel());
  if (!plan->append(spec, layout.prefix).empty()) return nullptr;
  return of(plan, [&](const std::string& name) { return binding.tensors[layout.tensor(name)]; });
}

std::shared_ptr<const EngineNetwork> EngineNetwork::of(std::shared_ptr<const engine::Plan> plan,
                                                       const Binding::Lookup& lookup) {
  std::optional<EngineTensors> tensors = engine_tensors(*plan, lookup);
  if (!tensors) return nullptr;
  return std::shared_ptr<const EngineNetwork>(new EngineNetwork(std::move(plan), std::move(*tensors)));
}

EngineNetwork::EngineNetwork(std::shared_ptr<const engine::Plan> plan, EngineTensors tensors)
    : plan_(std::move(plan)),
      tensors_(std::move(tensors)),
      leaf_(at::zeros({}, at::kFloat).set_requires_grad(true)) {}

EngineNetwork::~EngineNetwork() = default;

const std::vector<engine::DropoutLayer>& EngineNetwork::dropouts() const { return plan_->dropouts(); }

bool EngineNetwork::trains() const { return plan_->trains(); }

at::Tensor EngineNetwork::rows_of(const at::Tensor& x, const at::Tensor& mask, bool training,
                                  bool drops) const {
  const bool with_gradient = tensors_.trained && at::GradMode::is_enabled();
  if (!trains() && (training || with_gradient)) return {};
  if (drops && !plan_->has_every_dropout()) return {};
  if (plan_->tokens() > 0) return token_rows(x, mask, plan_->inputs(), plan_->tokens());
  const bool plain = !mask.defined() && x.defined() && x.device().is_cpu() && x.scalar_type() == at::kFloat &&
                     !x.requires_grad() && x.dim() > 1 && x.numel() == x.size(0) * plan_->inputs();
  return plain ? x : at::Tensor();
}

std::unique_ptr<engine::Tape> EngineNetwork::borrow() const {
  std::unique_ptr<engine::Tape> tape;
  {
    const std::scoped_lock lock(mutex_);
    if (!tapes_.empty()) {
      tape = std::move(tapes_.back());
      tapes_.pop_back();
    }
  }
  const bool fresh = tape == nullptr;
  if (fresh) tape = std::make_unique<engine::Tape>(plan_, kernels::kernels());
  if (fresh || tensors_.trained || !trains()) tape->pack(tensors_.values);
  return tape;
}

at::Tensor EngineNetwork::operator()(const at::Tensor& x, const std::vector<at::Tensor>& factors) const {
  const at::Tensor rows = x.detach().contiguous();
  const int64_t b = rows.size(0), k = plan_->outputs();
  const bool keep = tensors_.trained && at::GradMode::is_enabled();
  at::Tensor y = at::empty({b, k}, rows.options());
  std::unique_ptr<engine::Tape> tape = borrow();
  tape->forward(rows.const_data_ptr<float>(), plan_->inputs(), b, y.data_ptr<float>(), k, keep,
                pointers_of(factors), on_library_threads);
  if (!keep) {
    give_back(std::move(tape));
    return y;
  }
  auto pass = c10::make_intrusive<KeptPass>();
  pass->network = shared_from_this();
  pass->tape = std::move(tape);
  return EnginePass::apply(leaf_, y, pass);
}

void EngineNetwork::give_back(std::unique_ptr<engine::Tape> tape) const {
  const std::scoped_lock lock(mutex_);
  tapes_.push_back(std::move(tape));
}

}  // namespace slimbayes
