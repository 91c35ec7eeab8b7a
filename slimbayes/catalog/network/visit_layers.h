#pragma once

#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"

namespace slimbayes {

/// Calls each(layer, input, name) for every layer of a chain, including layers inside residuals. The order
/// is: a residual itself, then its body, then its shortcut. `input` is the shape of one row before the layer.
/// The layers are named `name`.0, `name`.1, ...; those inside a residual are named RESIDUAL.0, ... and
/// RESIDUAL.shortcut.0, ..., where RESIDUAL is the name of the residual. Throws std::invalid_argument if a
/// layer does not fit the output of the layer before it.
template <class Each>
void visit_layers(const std::vector<LayerSpec>& layers, Shape input, const std::string& name,
                  const Each& each) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string own = name + "." + std::to_string(i);
    each(layers[i], input, own);
    if (const auto* residual = std::get_if<Residual>(&layers[i])) {
      visit_layers(residual->body, input, own, each);
      visit_layers(residual->shortcut, input, own + ".shortcut", each);
    }
    input = output(layers[i], input, own);
  }
}

/// Calls each(layer, input, name) for every layer of a network, as above. The names begin with `prefix`.
template <class Each>
void visit_layers(const NetworkSpec& spec, const std::string& prefix, const Each& each) {
  visit_layers(spec.layers, spec.input, prefix, each);
}

/// Calls each(layer) for every layer of a chain, including layers inside residuals. `each` may change the
/// layer.
template <class Each>
void change_layers(std::vector<LayerSpec>& layers, const Each& each) {
  for (LayerSpec& layer : layers) {
    each(layer);
    if (auto* residual = std::get_if<Residual>(&layer)) {
      change_layers(residual->body, each);
      change_layers(residual->shortcut, each);
    }
  }
}

/// Returns whether the network has a layer of this kind, such as has_layer<Dropout>(spec).
template <class Kind>
bool has_layer(const NetworkSpec& spec) {
  bool found = false;
  visit_layers(spec, "", [&](const LayerSpec& layer, const Shape&, const std::string&) {
    found = found || std::holds_alternative<Kind>(layer);
  });
  return found;
}

}  // namespace slimbayes
