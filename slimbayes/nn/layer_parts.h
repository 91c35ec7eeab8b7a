#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/nn/network.h"

namespace slimbayes {

/// What the files with the computations of the layers share (layers.cpp, sequence_layers.cpp).

/// Finds the tensors and matrix sites of one layer. A place is an index in Binding::tensors or Binding::maps.
struct Places {
  const std::string& layer;  // its full name, such as "network.0"
  const NetworkLayout& layout;

  size_t tensor(const char* name) const { return layout.tensor(layer + "." + name); }
  size_t map(const char* name) const { return layout.site(layer + "." + name); }
  /// Returns the place of the tensor, or nothing if the layer does not have it (`there` is false).
  std::optional<size_t> tensor(const char* name, bool there) const {
    return there ? std::optional(tensor(name)) : std::nullopt;
  }
};

/// Returns the tensor at a place of the binding of a pass; undefined without a place.
at::Tensor tensor_of(const Network::Pass& pass, const std::optional<size_t>& place);

/// Returns a tap that holds only the layer's name, kind and multipliers.
Tap tap_of(const std::string& layer, const char* kind, const Scales& scales = {});

/// Records the layer's input x, output y and `parameters` as a Tap if the caller of the pass asked for taps.
/// `tap` holds all other fields. Undefined tensors in `parameters` are left out.
void record(const Network::Pass& pass, const Tap& tap, const std::vector<at::Tensor>& parameters,
            const at::Tensor& x, const at::Tensor& y);

/// Return the computation of one layer whose input has the shape `in`. Arguments and result are those of
/// made_layers().
Network::Layer made_layer(const Embedding& layer, const Shape& in, const Places& at);
Network::Layer made_layer(const Lstm& layer, const Shape& in, const Places& at);
Network::Layer made_layer(const Attention& layer, const Shape& in, const Places& at);
Network::Layer made_layer(const MeanOverSteps& layer, const Shape& in, const Places& at);
Network::Layer made_layer(const LastStep& layer, const Shape& in, const Places& at);

}  // namespace slimbayes
