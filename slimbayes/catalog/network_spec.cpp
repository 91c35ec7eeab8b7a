// A network as data: the model file holds it as JSON, so reading checks it as untrusted. A list of layers
// chains when each one's `out` is the next one's `in`; a residual's body must chain back to the residual's
// own width.
#include "slimbayes/catalog/network_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "slimbayes/catalog/option.h"

namespace slimbayes {
namespace {

using detail::shown;
using nlohmann::json;

constexpr const char* kKinds[] = {"linear", "layer_norm", "silu", "tanh", "relu", "residual"};
constexpr int kDeepest = 8;           // residuals within residuals
constexpr int64_t kWidest = 1 << 24;  // features of a layer
constexpr int kMostLayers = 4096;     // in all; the options make 331 at most

[[noreturn]] void refuse(const std::string& expected, const std::string& received) {
  throw std::invalid_argument(
      fmt::format("[network_from_json] expected {}; received {}; the description of the network is damaged",
                  expected, received));
}

int64_t width(const json& layer, const char* key) {
  const auto found = layer.find(key);
  if (found == layer.end() || !found->is_number_integer())
    refuse(fmt::format("an integer '{}'", key), shown(layer));
  const bool huge = found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(kWidest);
  const int64_t size = huge ? 0 : found->get<int64_t>();
  if (size < 1 || size > kWidest) refuse(fmt::format("'{}' in [1, {}]", key, kWidest), shown(*found));
  return size;
}

NetworkSpec layers_from_json(const json& list, int depth, int& left);

/// `left`: how many layers there may still be.
LayerSpec layer_from_json(const json& entry, int depth, int& left) {
  if (--left < 0) refuse(fmt::format("at most {} layers", kMostLayers), "more");
  if (!entry.is_object()) refuse("a layer as an object", shown(entry));
  const auto kind = entry.find("kind");
  if (kind == entry.end() || !kind->is_string()) refuse("a layer with a 'kind'", shown(entry));
  LayerSpec layer{kind->get<std::string>(), width(entry, "in"), width(entry, "out")};
  const bool residual = layer.kind == "residual";
  if (std::ranges::find(kKinds, layer.kind) == std::end(kKinds)) {
    refuse("linear, layer_norm, silu, tanh, relu or residual", shown(*kind));
  }
  if (layer.kind != "linear" && layer.in != layer.out) refuse("a layer that keeps its width", shown(entry));
  if (residual) {
    if (!entry.contains("body")) refuse("a residual with a 'body'", shown(entry));
    layer.body = layers_from_json(entry["body"], depth + 1, left);
    if (layer.body.front().in != layer.in || layer.body.back().out != layer.out) {
      refuse("a body of the residual's width", shown(entry));
    }
  } else if (entry.contains("body")) {
    refuse("a 'body' in residuals alone", shown(entry));
  }
  return layer;
}

NetworkSpec layers_from_json(const json& list, int depth, int& left) {
  if (!list.is_array() || (list.empty() && depth > 0)) refuse("a list of layers", shown(list));
  if (depth > kDeepest) refuse(fmt::format("at most {} nested residuals", kDeepest), shown(list));
  NetworkSpec spec;
  for (const json& entry : list) {
    LayerSpec layer = layer_from_json(entry, depth, left);
    if (!spec.empty() && spec.back().out != layer.in) {
      refuse(fmt::format("a layer with in = {}", spec.back().out), shown(entry));
    }
    spec.push_back(std::move(layer));
  }
  return spec;
}

}  // namespace

NetworkSpec tabular_resnet(int64_t inputs, int64_t hidden, int64_t blocks, const std::string& activation) {
  NetworkSpec spec = {{"linear", inputs, hidden}};
  for (int64_t block = 0; block < blocks; ++block) {
    spec.push_back({"residual",
                    hidden,
                    hidden,
                    {{"layer_norm", hidden, hidden},
                     {"linear", hidden, hidden},
                     {activation, hidden, hidden},
                     {"linear", hidden, hidden}}});
  }
  spec.push_back({"layer_norm", hidden, hidden});
  spec.push_back({activation, hidden, hidden});
  return spec;
}

NetworkSpec mlp(int64_t inputs, int64_t hidden, int64_t layers, const std::string& activation) {
  if (layers < 1) throw std::invalid_argument("[mlp] expected at least one layer; received none");
  NetworkSpec spec;
  for (int64_t layer = 0; layer < layers; ++layer) {
    spec.push_back({"linear", layer == 0 ? inputs : hidden, hidden});
    spec.push_back({activation, hidden, hidden});
  }
  return spec;
}

nlohmann::json to_json(const NetworkSpec& spec) {
  json list = json::array();
  for (const LayerSpec& layer : spec) {
    json entry = {{"kind", layer.kind}, {"in", layer.in}, {"out", layer.out}};
    if (layer.kind == "residual") entry["body"] = to_json(layer.body);
    list.push_back(std::move(entry));
  }
  return list;
}

NetworkSpec network_from_json(const nlohmann::json& json) {
  int left = kMostLayers;
  return layers_from_json(json, 0, left);
}

}  // namespace slimbayes
