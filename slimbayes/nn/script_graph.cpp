// Changes the graph of a TorchScript module so that it also returns the inputs and outputs of its last layer.
// C++ has no forward hooks that could record them. All calls are inlined first. A search from the graph's
// output backwards then finds the linear operation that computes it; its inputs and outputs are registered as
// further outputs of the graph.
#include "slimbayes/nn/script_graph.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

namespace jit = torch::jit;

constexpr const char *kScriptGraph = "module", *kForwardMethod = "forward";
constexpr int64_t kAllRows = std::numeric_limits<int64_t>::max();  // the end of a slice without one

/// Returns the object that a value of the graph stands for, if it is the module, a submodule or an attribute;
/// otherwise nothing. `self` is the graph's input for the module.
std::optional<c10::IValue> attribute(const jit::Value* value, const jit::Value* self,
                                     const jit::Module& module) {
  if (value == self) return c10::IValue(module._ivalue());
  if (value->node()->kind() != c10::prim::GetAttr) return {};
  const auto owner = attribute(value->node()->input(), self, module);
  if (!owner || !owner->isObject()) return {};
  return owner->toObjectRef().getAttr(value->node()->s(c10::attr::name));
}

std::vector<jit::Node*> nodes_of(jit::Block* block) {
  std::vector<jit::Node*> all;
  for (jit::Node* node : block->nodes()) {
    all.push_back(node);
    for (jit::Block* inner : node->blocks()) {
      const auto more = nodes_of(inner);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  return all;
}

/// Replaces attributes that are not tensors, such as `training` or the module's options, by constants.
/// Attributes that the graph itself sets are kept.
void fold_attributes(jit::Graph& graph, const jit::Module& module) {
  std::set<std::string> changing;
  for (jit::Node* node : nodes_of(graph.block()))
    if (node->kind() == c10::prim::SetAttr) changing.insert(node->s(c10::attr::name));
  for (jit::Node* node : nodes_of(graph.block())) {
    if (node->kind() != c10::prim::GetAttr || changing.contains(node->s(c10::attr::name))) continue;
    const auto value = attribute(node->output(), graph.inputs()[0], module);
    if (!value || !(value->isBool() || value->isInt() || value->isDouble() || value->isString())) continue;
    const jit::WithInsertPoint here(node);
    node->output()->replaceAllUsesWith(graph.insertConstant(*value));
  }
}

/// Returns a copy of the graph of `forward` in which all calls are inlined and the branches that evaluation
/// mode never takes are removed.
std::shared_ptr<jit::Graph> graph_of(const jit::Module& module) {
  const auto forward = module.find_method(kForwardMethod);
  check(forward.has_value(), kScriptGraph, "a module with a forward", "one without");
  std::shared_ptr<jit::Graph> graph = forward->graph()->copy();
  jit::Inline(*graph);
  fold_attributes(*graph, module);
  jit::ConstantPropagationImmutableTypes(graph);
  return graph;
}

/// Throws std::invalid_argument if the graph has a dropout or batch norm that was traced in training mode.
void check_evaluates(const jit::Graph& graph) {
  for (jit::Node* node : nodes_of(const_cast<jit::Graph&>(graph).block())) {
    const std::string name = node->kind().toUnqualString();
    if (name.find("dropout") == std::string::npos && name.find("batch_norm") == std::string::npos) continue;
    for (const char* mode : {"train", "training"}) {
      if (!node->maybeSchema() || !node->hasNamedInput(mode)) continue;
      const auto value = jit::toIValue(node->namedInput(mode));
      if (value && value->isBool() && value->toBool())
        refuse(kScriptGraph, "a module in evaluation mode", fmt::format("one with {} in training mode", name),
               "call eval() before torch.jit.trace, and pass training=self.training to dropout");
    }
  }
}

/// Returns whether an operation only changes the shape of a tensor: all numbers stay, in the same order.
/// ScriptNetwork::verified checks the shape that results.
bool reshapes(const jit::Node* node) {
  static const std::set<c10::Symbol> kinds = {c10::aten::squeeze,   c10::aten::view,
                                              c10::aten::reshape,   c10::aten::flatten,
                                              c10::aten::unsqueeze, c10::aten::contiguous};
  return kinds.contains(node->kind());
}

/// Returns the whole number that an input of an operation is, `none` where it is None, or nothing if it is
/// computed.
std::optional<int64_t> constant_at(const jit::Node* node, size_t input, std::optional<int64_t> none = {}) {
  const auto value = jit::toIValue(node->input(input));
  if (value && value->isNone()) return none;
  return value && value->isInt() ? std::optional(value->toInt()) : std::nullopt;
}

/// Returns whether an operation takes the only column of a matrix: select(x, 1, 0), as x[:, 0] has it, or the
/// slice x[:, ...] of all rows before it.
bool takes_only_column(const jit::Node* node) {
  constexpr size_t kSelectInputs = 3, kSliceInputs = 5;  // x, axis, place; x, axis, first, end, step
  const auto is_last = [](std::optional<int64_t> place) { return place == 0 || place == -1; };
  if (node->kind() == c10::aten::select && node->inputs().size() == kSelectInputs) {
    const auto axis = constant_at(node, 1);
    return (axis == 1 || axis == -1) && is_last(constant_at(node, 2));
  }
  if (node->kind() != c10::aten::slice || node->inputs().size() != kSliceInputs) return false;
  return constant_at(node, 2, 0) == 0 && constant_at(node, 3, kAllRows) == kAllRows &&
         constant_at(node, 4) == 1;
}

/// The operation that computes the output of a graph as hidden weight^T + bias, and its operands.
struct OutputLayer {
  jit::Node* node;
  jit::Value *hidden, *weight, *bias;  // bias: nullptr without one
};

/// Returns the operation and its operands if the node is aten::linear(hidden, weight, bias) or
/// aten::addmm(bias, hidden, weight.t()); else nullopt.
std::optional<OutputLayer> linear_at(jit::Node* node) {
  const auto optional = [](jit::Value* bias) {
    return bias->type()->kind() == c10::TypeKind::NoneType ? nullptr : bias;
  };
  if (node->kind() == c10::aten::linear)
    return OutputLayer{node, node->input(0), node->input(1), optional(node->input(2))};
  if (node->kind() == c10::aten::addmm && node->input(2)->node()->kind() == c10::aten::t)
    return OutputLayer{node, node->input(1), node->input(2)->node()->input(), node->input(0)};
  return {};
}

/// Finds the linear operation that computes the graph's output by walking back from the output over reshapes.
/// Throws std::invalid_argument if there is another operation on the way, or if its weight is not `weight`.
OutputLayer output_layer(const jit::Graph& graph, const jit::Module& module, const at::Tensor& weight,
                         const std::string& path) {
  const std::string expected = fmt::format("a module that returns the output of its layer '{}'", path);
  if (graph.outputs().size() != 1 || graph.outputs()[0]->type()->kind() != c10::TypeKind::TensorType)
    refuse(kScriptGraph, "a forward that returns one tensor",
           graph.outputs().empty() ? "none" : graph.outputs()[0]->type()->str());
  for (jit::Value* value = const_cast<jit::Value*>(graph.outputs()[0]);; value = value->node()->input(0)) {
    jit::Node* node = value->node();
    for (const jit::Use& use : value->uses()) {
      const std::string name = use.user->kind().toUnqualString();
      if (name.ends_with('_'))
        refuse(kScriptGraph, expected, fmt::format("one that applies {} to it", name),
               "return the layer's output as it is: numbers or logits");
    }
    if (reshapes(node) || (weight.size(0) == 1 && takes_only_column(node))) continue;
    const auto layer = linear_at(node);
    if (!layer) {
      const bool branches = node->kind() == c10::prim::If || node->kind() == c10::prim::Loop;
      const std::string last = branches ? "an if or a loop" : node->kind().toUnqualString();
      refuse(kScriptGraph, expected, fmt::format("one whose last operation is {}", last),
             "end it in torch.nn.Linear, and return logits instead of probabilities");
    }
    const auto used = attribute(layer->weight, graph.inputs()[0], module);
    check(used && used->isTensor() && used->toTensor().is_same(weight), kScriptGraph, expected,
          "one that returns the output of another linear layer", "name that layer");
    return *layer;
  }
}

/// Returns whether an operation other than the last layer also reads this tensor.
bool shared(const at::Tensor& tensor, const OutputLayer& layer, jit::Graph& graph,
            const jit::Module& module) {
  for (jit::Node* node : nodes_of(graph.block())) {
    if (node->kind() != c10::prim::GetAttr) continue;
    const auto value = attribute(node->output(), graph.inputs()[0], module);
    if (!value || !value->isTensor() || !value->toTensor().is_same(tensor)) continue;
    for (const jit::Use& use : node->output()->uses()) {
      const bool transposed = use.user->kind() == c10::aten::t && use.user->output()->uses().size() == 1 &&
                              use.user->output()->uses()[0].user == layer.node;
      if (use.user != layer.node && !transposed) return true;
    }
  }
  return false;
}

}  // namespace

ScriptGraph script_graph(const jit::Module& module, const std::string& last_layer, const at::Tensor& weight) {
  ScriptGraph result;
  result.graph = graph_of(module);
  jit::Graph& graph = *result.graph;
  check_evaluates(graph);
  const OutputLayer layer = output_layer(graph, module, weight, last_layer);
  if (layer.node->owningBlock() != graph.block())
    refuse(kScriptGraph, fmt::format("the layer '{}' to be called once for every row", last_layer),
           "a call inside an if or a loop");
  result.weight_is_shared = shared(weight, layer, graph, module);
  if (layer.bias != nullptr) {
    const auto bias = attribute(layer.bias, graph.inputs()[0], module);
    check(bias && bias->isTensor() && bias->toTensor().sizes() == weight.sizes().slice(0, 1), kScriptGraph,
          "a bias that is a parameter, with a number per output", "another one");
    result.bias = bias->toTensor();
    result.bias_is_shared = shared(result.bias, layer, graph, module);
  }
  graph.registerOutput(layer.hidden);
  graph.registerOutput(layer.node->output());
  return result;
}

}  // namespace slimbayes
