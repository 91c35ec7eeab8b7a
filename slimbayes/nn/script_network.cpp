// A TorchScript module as a network that also returns the inputs of its last layer (nn/script_graph).
//
// The interpreter runs the graph directly. torch::jit::Module::forward would profile the first calls and then
// run optimised code, so that repeated calls with the same rows could return different bits.
#include "slimbayes/nn/script_network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/nn/script_graph.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

namespace jit = torch::jit;

constexpr const char* kModule = "module";
constexpr const char* kForward = "forward";

/// Returns the message of a TorchScript exception as one sentence, without the quoted program text.
std::string reason_of(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  constexpr std::string_view kMark = "RuntimeError: ";
  if (const size_t at = text.rfind(kMark); at != std::string::npos) text = text.substr(at + kMark.size());
  const size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return "no reason";
  return foreign_text(text.substr(begin, std::min(text.find('\n', begin), text.find(". ", begin)) - begin));
}

jit::Module module_from(const std::vector<std::byte>& archive, const std::string& name) {
  try {
    std::istringstream in(std::string(reinterpret_cast<const char*>(archive.data()), archive.size()));
    jit::Module module = jit::load(in, at::kCPU);
    module.eval();
    return module;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw DataError(name, fmt::format("expected a TorchScript module, a file of torch.jit.save; received "
                                      "other or damaged bytes ({}); save it by "
                                      "torch.jit.script(net.eval()).save(path)",
                                      reason_of(error)));
  }
}

/// The parameters of a module. A tensor with several names appears once, with the first of its names.
struct NamedParameters {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
};

NamedParameters parameters_of(const jit::Module& module) {
  NamedParameters all;
  for (const auto& [name, tensor] : module.named_parameters()) {
    const auto same = [&tensor = tensor](const at::Tensor& one) { return one.is_same(tensor); };
    if (!tensor.is_floating_point() || std::ranges::any_of(all.tensors, same)) continue;
    all.names.push_back(name);
    all.tensors.push_back(tensor);
  }
  return all;
}

/// Returns a text with at most three of the names, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  if (names.size() <= kShown) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, {}, {} and {} more", names[0], names[1], names[2], names.size() - kShown);
}

std::optional<at::Tensor> tensor_of(const jit::Module& module, const char* name) {
  if (!module.hasattr(name) || !module.attr(name).isTensor()) return {};
  return module.attr(name).toTensor();
}

/// Returns the weight of the linear layer at `path`. Throws std::invalid_argument if there is no such layer
/// or it is not linear; the message suggests a similar name.
at::Tensor weight_at(const jit::Module& module, const std::string& path) {
  std::vector<std::string> linear;
  for (const auto& [name, layer] : module.named_modules()) {
    const auto weight = tensor_of(layer, "weight");
    if (name == path && !name.empty()) {
      if (!(weight && weight->dim() == 2 && weight->numel() > 0))
        refuse(kModule,
               fmt::format("'{}' to be a linear layer with a weight [outputs, inputs]", foreign_text(path)),
               weight ? fmt::format("a weight of shape {}", weight->sizes()) : "no weight",
               "name the linear layer that computes the module's output");
      return *weight;
    }
    if (weight && weight->dim() == 2 && !name.empty()) linear.push_back(name);
  }
  refuse(kModule, "the name of a layer of the module", "'" + foreign_text(path) + "'",
         linear.empty() ? "it has no linear layer" : nearest_hint(path, linear));
}

/// Returns the default values of the inputs of forward that follow the rows. Throws std::invalid_argument if
/// one has no default value.
std::vector<c10::IValue> other_inputs(const jit::Module& module) {
  const auto forward = module.find_method(kForward);
  check(forward.has_value(), kModule, "a module with a forward", "one without", "save the whole network");
  const auto arguments = forward->function().getSchema().arguments();  // self, x, ...
  std::vector<c10::IValue> values;
  for (size_t i = 2; i < arguments.size() && arguments[i].default_value(); ++i)
    values.push_back(*arguments[i].default_value());
  if (!(arguments.size() >= 2 && values.size() == arguments.size() - 2))
    refuse(kModule, "a forward that takes one tensor", fmt::format("one that takes {}", arguments.size() - 1),
           "give the other inputs default values");
  return values;
}

}  // namespace

struct ScriptNetwork::State {
  std::vector<std::byte> archive;
  std::string last_layer;
  bool hosted = false;
  at::Tensor weight, bias;
  std::vector<std::string> names;  // names of `parameters`
  std::vector<at::Tensor> parameters;
  std::vector<std::string> untrained;  // names of parameters that were frozen in training
  /// Runs the module at rows x. Returns its output, then the inputs and the outputs of its last layer.
  std::function<std::vector<at::Tensor>(const at::Tensor& x)> run;
};

namespace {

/// A module of TorchScript with its graph: what runs it. It holds the parameters.
struct Script {
  jit::Module module;
  std::vector<c10::IValue> others;  // default values of forward's other inputs
  jit::Code code;

  std::vector<at::Tensor> operator()(const at::Tensor& x) const {
    jit::Stack stack = {module._ivalue(), x};
    stack.insert(stack.end(), others.begin(), others.end());
    try {
      jit::InterpreterState(code).run(stack);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      refuse(kModule, "rows that the module takes",
             fmt::format("rows of shape {}, to which it says: {}", x.sizes().slice(1), reason_of(error)));
    }
    return {stack.at(0).toTensor(), stack.at(1).toTensor(), stack.at(2).toTensor()};
  }
};

void check_types(const std::vector<at::Tensor>& tensors, const std::vector<std::string>& names) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const at::ScalarType type = tensors[i].scalar_type();
    if (!((type == at::kFloat || type == at::kDouble) && type == tensors[0].scalar_type()))
      refuse(kModule, "parameters that are all float32 or all float64",
             fmt::format("{} in '{}'", at::toString(type), names[i]),
             "call float() before the module is saved");
  }
}

}  // namespace

ScriptNetwork ScriptNetwork::read(const std::filesystem::path& path, const std::string& last_layer) {
  return from_bytes(read_bytes(path), last_layer, path.string());
}

ScriptNetwork ScriptNetwork::of(const jit::Module& module, const std::string& last_layer) {
  std::ostringstream out;
  module.save(out);
  const std::string text = std::move(out).str();
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return from_bytes({bytes, bytes + text.size()}, last_layer);
}

ScriptNetwork ScriptNetwork::from_bytes(std::vector<std::byte> archive, const std::string& last_layer,
                                        const std::string& name) {
  auto state = std::make_shared<State>();
  const jit::Module module = module_from(archive, name);
  state->archive = std::move(archive);
  state->last_layer = last_layer;
  const NamedParameters all = parameters_of(module);
  check(!all.tensors.empty(), kModule, "a module with parameters",
        "a frozen module without parameters (torch.jit.freeze, torch.jit.optimize_for_inference)",
        "save it before it is frozen");
  check_types(all.tensors, all.names);
  const at::Tensor weight = weight_at(module, last_layer);
  const std::vector<c10::IValue> others = other_inputs(module);
  const ScriptGraph graph = [&] {
    try {
      return script_graph(module, last_layer, weight);
    } catch (const c10::Error& error) {  // a damaged graph
      throw DataError(name, "holds a module that the tensor library refuses: " + reason_of(error));
    }
  }();
  state->weight = weight.detach();
  if (graph.bias.defined()) state->bias = graph.bias.detach();
  for (size_t i = 0; i < all.tensors.size(); ++i) {
    const at::Tensor& one = all.tensors[i];
    if (!one.requires_grad()) state->untrained.push_back(all.names[i]);
    const bool counts = one.is_same(weight)       ? graph.weight_is_shared
                        : one.is_same(graph.bias) ? graph.bias_is_shared
                                                  : true;
    one.set_requires_grad(counts);
    if (!counts) continue;
    state->names.push_back(all.names[i]);
    state->parameters.push_back(one);
  }
  state->run = Script{module, others, jit::Code(graph.graph, kForward)};
  return ScriptNetwork(std::move(state));
}

ScriptNetwork ScriptNetwork::of(HostModule module) {
  std::vector<at::Tensor> all = module.parameters;
  all.push_back(module.weight);
  std::vector<std::string> names = module.names;
  names.push_back(module.last_layer);
  check_types(all, names);
  auto state = std::make_shared<State>();
  state->archive = std::move(module.fingerprint);
  state->last_layer = std::move(module.last_layer);
  state->hosted = true;
  state->weight = module.weight.detach();
  if (module.bias.defined()) state->bias = module.bias.detach();
  state->names = std::move(module.names);
  state->parameters = std::move(module.parameters);
  state->untrained = std::move(module.untrained);
  state->run = std::move(module.run);
  return ScriptNetwork(std::move(state));
}

ScriptRows ScriptNetwork::operator()(const at::Tensor& x) const {
  std::vector<at::Tensor> values = state_->run(x);
  return {values[1], values[2]};
}

std::vector<std::string> ScriptNetwork::verified(const at::Tensor& x) const {
  constexpr double kRounding = 1e-4;  // float32 rounding of a sum, relative to its largest number
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> values = state_->run(x);
  const at::Tensor &given = values[0], &hidden = values[1], &output = values[2];
  const int64_t b = x.size(0), k = weight().size(0);
  if (hidden.dim() != 2 || hidden.size(0) != b)
    refuse(kModule, fmt::format("one vector per row before '{}'", last_layer()),
           fmt::format("{} for {} rows", hidden.sizes(), b), "pool or flatten it first");
  const bool shaped = (given.dim() == 2 && given.size(0) == b && given.size(1) == k) ||
                      (k == 1 && given.dim() == 1 && given.size(0) == b);
  if (!shaped)
    refuse(kModule, fmt::format("outputs [{}, {}] for {} rows", b, k, b), fmt::format("{}", given.sizes()),
           "return the last layer's output");
  check_finite(output, kModule, "the module's output");
  const double size = output.abs().max().item<double>();
  const auto alike = [&](const at::Tensor& a, const at::Tensor& c) {
    return a.sizes() == c.sizes() && (a - c).abs().max().item<double>() <= kRounding * size;
  };
  if (!alike(given.reshape({b, k}), output) || !alike(at::linear(hidden, weight(), bias()), output))
    refuse(kModule, fmt::format("the output to be '{}' applied to its inputs", last_layer()),
           "another output", "end the module in torch.nn.Linear");
  std::vector<at::Tensor> alone;
  for (int64_t i = 0; i < b; ++i) alone.push_back(state_->run(x.slice(0, i, i + 1))[2]);
  check(alike(at::cat(alone), output), kModule, "a row's output to depend on that row alone",
        "another output when the rows come one by one",
        "call eval() before the module is traced, and pass training=self.training to dropout");

  std::vector<std::string> notes;
  if (!state_->untrained.empty())
    notes.push_back(
        fmt::format("parameters that were frozen in training (requires_grad is false) count like the "
                    "others: {}",
                    some_of(state_->untrained)));
  const at::AutoGradMode with_graph(true);
  const at::Tensor sum = state_->run(x)[1].sum();
  std::vector<std::string> unreached = state_->names;
  if (sum.requires_grad()) {
    const auto gradients = torch::autograd::grad({sum}, parameters(), {}, {}, false, /*allow_unused=*/true);
    unreached.clear();
    for (size_t i = 0; i < gradients.size(); ++i)
      if (!gradients[i].defined()) unreached.push_back(state_->names[i]);
  }
  if (!unreached.empty())
    notes.push_back(
        fmt::format("no gradient reaches these parameters of the module (unused, or behind detach() "
                    "or no_grad()), so they add no variance: {}",
                    some_of(unreached)));
  return notes;
}

const at::Tensor& ScriptNetwork::weight() const { return state_->weight; }
const at::Tensor& ScriptNetwork::bias() const { return state_->bias; }
const std::vector<at::Tensor>& ScriptNetwork::parameters() const { return state_->parameters; }
at::ScalarType ScriptNetwork::type() const { return state_->weight.scalar_type(); }
const std::string& ScriptNetwork::last_layer() const { return state_->last_layer; }
bool ScriptNetwork::hosted() const { return state_->hosted; }
const std::vector<std::byte>& ScriptNetwork::archive() const { return state_->archive; }

}  // namespace slimbayes
