#include "slimbayes/nn/engine_network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace slimbayes {

namespace {

bool turned_off() {
  const char* engine = std::getenv("SLIMBAYES_ENGINE");
  return engine != nullptr && std::string_view(engine) == "libtorch";
}

bool is_plain(const at::Tensor& x) {
  return x.defined() && x.device().is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous();
}

/// Returns whether the tensor is a constant, or a parameter whose gradient has a place.
bool can_bind(const at::Tensor& x) {
  if (!is_plain(x)) return false;
  return !x.requires_grad() || (x.is_leaf() && x.grad().defined() && is_plain(x.grad()));
}

}  // namespace

/// The node of a pass in the graph of autograd.
struct EnginePass : torch::autograd::Node {
  std::shared_ptr<const EngineNetwork> network;
  std::unique_ptr<engine::Tape> tape;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override {
    if (!grads[0].defined()) return {};
    const at::Tensor g = grads[0].to(at::kFloat).contiguous();
    tape->backward(g.const_data_ptr<float>(), g.size(1), network->gradients_);
    return {};
  }
  ~EnginePass() override { network->give_back(std::move(tape)); }
};

std::shared_ptr<const EngineNetwork> EngineNetwork::of(const NetworkSpec& spec, const NetworkLayout& layout,
                                                       const Binding& binding, std::string* why) {
  const auto refused = [why](const std::string& reason) {
    if (why != nullptr) *why = reason;
    return nullptr;
  };
  if (turned_off()) return refused("SLIMBAYES_ENGINE=libtorch");
  if (kernels::all_kernels().empty()) return refused("a processor without SSE4 or NEON");
  if (layout.tensors.empty()) return refused("a network without parameters");
  auto plan = std::make_shared<engine::Plan>(spec.input.numel());
  if (const std::string layer = plan->append(spec, layout.prefix); !layer.empty()) return refused(layer);
  const std::shared_ptr<EngineNetwork> network(new EngineNetwork(plan));
  for (const std::string& name : plan->tensors()) {
    const at::Tensor& one = binding.tensors[layout.tensor(name)];
    if (!can_bind(one)) return refused("tensors that are not contiguous float32 parameters on the CPU");
    network->tensors_.push_back(one);
    network->values_.push_back(one.const_data_ptr<float>());
    const bool trained = one.requires_grad();
    network->gradients_.push_back(trained ? one.grad().data_ptr<float>() : nullptr);
    network->trained_ = network->trained_ || trained;
  }
  return network;
}

bool EngineNetwork::takes(const at::Tensor& x) const {
  return x.defined() && x.device().is_cpu() && x.scalar_type() == at::kFloat && !x.requires_grad() &&
         x.dim() > 1 && x.numel() == x.size(0) * plan_->inputs();
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
  if (fresh || trained_) tape->pack(values_);
  return tape;
}

at::Tensor EngineNetwork::operator()(const at::Tensor& x) const {
  const at::Tensor rows = x.detach().contiguous();
  const int64_t b = rows.size(0), k = plan_->outputs();
  const bool keep = trained_ && at::GradMode::is_enabled();
  at::Tensor y = at::empty({b, k}, rows.options());
  std::unique_ptr<engine::Tape> tape = borrow();
  tape->forward(rows.const_data_ptr<float>(), plan_->inputs(), b, y.data_ptr<float>(), k, keep);
  if (!keep) {
    give_back(std::move(tape));
    return y;
  }
  const std::shared_ptr<EnginePass> pass(new EnginePass(), torch::autograd::deleteNode);
  pass->network = shared_from_this();
  pass->tape = std::move(tape);
  torch::autograd::set_history(y, pass);
  return y;
}

void EngineNetwork::give_back(std::unique_ptr<engine::Tape> tape) const {
  const std::scoped_lock lock(mutex_);
  tapes_.push_back(std::move(tape));
}

}  // namespace slimbayes
