// Sets the factors, initial values and learning rates of layers as functions of the width. One pass over the
// layers keeps track of the shape. The Scales of each Linear and Conv2d follow from its place in the network
// (first, hidden or last) and the width of its input and output.
#include "slimbayes/catalog/network/parametrisation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// What the Scales of a layer depend on.
struct LayerWidth {
  double in, out;  // features of a vector, or channels of an image
  double window;   // input numbers per feature or channel: fan-in = in * window
  bool first, last;
};

Scales mup(const LayerWidth& layer, double reference) {
  if (layer.first && layer.last) return {.start = 1 / std::sqrt(layer.in * layer.window)};
  const double n = layer.first ? layer.out : layer.in;
  Scales scales{.start = 1 / std::sqrt(n * layer.window)};
  const double root = std::sqrt(n), slow = std::sqrt(reference / n);
  scales.weight = layer.first ? root : layer.last ? 1 / root : 1;
  scales.bias = layer.last ? 1 : root;
  scales.weight_rate = layer.first || layer.last ? slow : slow * slow;
  scales.bias_rate = layer.last ? 1 : slow;
  return scales;
}

Scales ntk(const LayerWidth& layer) { return {.weight = 1 / std::sqrt(layer.in * layer.window), .start = 1}; }

template <class Layer>
inline constexpr bool keeps_widths = std::is_same_v<Layer, Activation> || std::is_same_v<Layer, Dropout> ||
                                     std::is_same_v<Layer, Pool2d> || std::is_same_v<Layer, Flatten> ||
                                     std::is_same_v<Layer, MeanOverImage> || std::is_same_v<Layer, BatchNorm>;

/// The state of the pass over the layers: what the layers before have determined.
struct Widths {
  const std::string& name;  // name of the parametrisation
  double reference;
  Shape shape;         // shape of the next layer's input
  int64_t pixels = 1;  // after a Flatten: pixels per channel; else 1
  bool first = true;   // no layer with Scales has come yet

  void set(Scales& scales, int64_t in, int64_t out, int64_t window, bool last) {
    const LayerWidth width{static_cast<double>(in), static_cast<double>(out), static_cast<double>(window),
                           first, last};
    scales = name == "mup" ? mup(width, reference) : ntk(width);
    first = false;
  }

  /// Sets the Scales of the layer at position `place` if it has any, then sets `shape` to the shape of its
  /// output. Throws std::invalid_argument for a kind of layer whose scales are not known.
  void pass(LayerSpec& layer, size_t place, bool last) {
    std::visit(
        [&](auto& one) {
          using Layer = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<Layer, Linear>) {
            set(one.scales, shape.width() / pixels, one.out, pixels, last);
            pixels = 1;
          } else if constexpr (std::is_same_v<Layer, Conv2d>) {
            set(one.scales, shape.sizes[0], one.out, one.kernel * one.kernel, last);
          } else if constexpr (std::is_same_v<Layer, Flatten>) {
            pixels = shape.sizes[1] * shape.sizes[2];
          } else if constexpr (!keeps_widths<Layer>) {
            throw std::invalid_argument(fmt::format(
                "[parametrised] expected layers of linear, conv2d, batch_norm, activation, dropout, pool, "
                "flatten and mean_over_image for '{}'; received the layer {} ({}); the networks {} can be "
                "'{}', every network 'standard'",
                name, Layer::kind, place, parametrised_networks(), name));
          }
        },
        layer);
    shape = output(layer, shape, fmt::format("{}", place));
  }
};

}  // namespace

std::vector<std::string> parametrisations() { return {"standard", "mup", "ntk"}; }

NetworkSpec parametrised(NetworkSpec spec, const std::string& name, int64_t reference_width) {
  const std::vector<std::string> known = parametrisations();
  if (std::ranges::find(known, name) == known.end())
    throw std::invalid_argument(fmt::format("[parametrised] expected one of {}; received '{}'; {}",
                                            fmt::join(known, ", "), foreign_text(name),
                                            nearest_hint(name, known)));
  if (reference_width < 1)
    throw std::invalid_argument(
        fmt::format("[parametrised] expected a reference width of at least 1; received {}", reference_width));
  if (name == "standard") return spec;
  if (spec.layers.empty() || !std::holds_alternative<Linear>(spec.layers.back()))
    throw std::invalid_argument(fmt::format(
        "[parametrised] expected a network that ends in the linear layer of its output; received {}",
        spec.layers.empty() ? "no layer" : kind_of(spec.layers.back())));
  output(spec);  // throws if the layers do not fit each other
  Widths widths{name, static_cast<double>(reference_width), spec.input};
  for (size_t i = 0; i < spec.layers.size(); ++i) widths.pass(spec.layers[i], i, i + 1 == spec.layers.size());
  return spec;
}

}  // namespace slimbayes
