// Computes shapes of a network, and writes and reads a network as JSON for the model file. network_from_json
// does not trust its input and checks everything. There is one output_of function per kind of layer; it
// returns the shape of the layer's output for the shape of its input. nn/layers.cpp takes all sizes from
// these functions.
#include "slimbayes/catalog/network/network_spec.h"

#include <fmt/format.h>

#include <stdexcept>

namespace slimbayes {

namespace {

using detail::shown;
using nlohmann::json;

constexpr int kDeepest = 8;              // most levels of residuals inside residuals
constexpr double kMostNumbers = 0x1p26;  // most numbers in one row between two layers: 256 MB in float32
constexpr int kMostLayers = 4096;        // most layers, including those in residuals

[[noreturn]] void refuse(const std::string& expected, const std::string& received) {
  throw std::invalid_argument(
      fmt::format("[network_from_json] expected {}; received {}; the description of the network is damaged",
                  expected, received));
}

/// Identifies a layer in error messages: by its position, its kind and the shape of its input.
struct Place {
  const std::string& of;  // name of the layer, such as "3", or "3.0" within a residual; may be empty
  const char* kind;
  const Shape& input;

  void check(bool ok, const char* expected) const {
    if (!ok) refuse(expected);
  }
  [[noreturn]] void refuse(const std::string& expected) const {
    throw std::invalid_argument(fmt::format("[network] expected {} for the layer {}{}; received {}", expected,
                                            kind, of.empty() ? "" : " (" + of + ")", text_of(input)));
  }
};

Shape with_width(Shape shape, int64_t width) {
  shape.sizes.back() = width;
  return shape;
}

/// Returns the number of positions of a convolution's window along one side of an image.
int64_t windows(int64_t size, int64_t kernel, int64_t stride, int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

/// Returns how many numbers a row of this shape holds.
double numbers_in(const Shape& shape) {
  double all = 1;
  for (int64_t size : shape.sizes) all *= static_cast<double>(size);
  return all;
}

/// Returns the shape of a row after it has passed through all `layers`. Throws std::invalid_argument if a
/// layer does not fit its input, or if its output has more than kMostNumbers numbers.
Shape chained(const std::vector<LayerSpec>& layers, Shape shape, const std::string& place) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string name = place.empty() ? fmt::format("{}", i) : fmt::format("{}.{}", place, i);
    const Shape input = shape;
    shape = output(layers[i], input, name);
    Place{name, std::visit([](const auto& one) { return one.kind; }, layers[i]), input}.check(
        numbers_in(shape) <= kMostNumbers, "an output of at most 2^26 numbers");
  }
  return shape;
}

Shape output_of(const Linear& layer, const Shape& in, const Place& place) {
  place.check(in.is_vector() || in.is_sequence(), "a vector or a sequence");
  return with_width(in, layer.out);
}
Shape output_of(const Activation&, const Shape& in, const Place& place) {
  place.check(!in.tokens, "numbers");
  return in;
}
Shape output_of(const Scale&, const Shape& in, const Place& place) {
  place.check(in.is_vector(), "a vector");
  return in;
}
Shape output_of(const Periodic& layer, const Shape& in, const Place& place) {
  const double numbers = static_cast<double>(in.width()) * static_cast<double>(layer.out);
  place.check(in.is_vector() && numbers <= kSizes.high, "a vector that grows to at most 2^24 numbers");
  return {{in.width() * layer.out}};
}
Shape output_of(const LayerNorm&, const Shape& in, const Place& place) {
  place.check(in.is_vector() || in.is_sequence(), "a vector or a sequence");
  return in;
}
Shape output_of(const BatchNorm&, const Shape& in, const Place& place) {
  place.check(in.is_image() || in.is_vector(), "an image or a vector");
  return in;
}
Shape output_of(const Dropout&, const Shape& in, const Place& place) {
  place.check(!in.tokens, "numbers");
  return in;
}
Shape output_of(const Conv2d& layer, const Shape& in, const Place& place) {
  place.check(in.is_image(), "an image");
  const int64_t h = windows(in.sizes[1], layer.kernel, layer.stride, layer.padding),
                w = windows(in.sizes[2], layer.kernel, layer.stride, layer.padding);
  const int64_t wide = layer.kernel - 2 * layer.padding;
  if (in.sizes[1] < wide || in.sizes[2] < wide)
    place.refuse(fmt::format("an image of at least {0} x {0} pixels", wide));
  return {{layer.out, h, w}};
}
Shape output_of(const Pool2d& layer, const Shape& in, const Place& place) {
  if (!in.is_image() || in.sizes[1] < layer.size || in.sizes[2] < layer.size)
    place.refuse(fmt::format("an image of at least {0} x {0} pixels", layer.size));
  return {{in.sizes[0], in.sizes[1] / layer.size, in.sizes[2] / layer.size}};
}
Shape output_of(const Upsample& layer, const Shape& in, const Place& place) {
  place.check(in.is_image(), "an image");
  return {{in.sizes[0], in.sizes[1] * layer.size, in.sizes[2] * layer.size}};
}
Shape output_of(const MeanOverImage&, const Shape& in, const Place& place) {
  place.check(in.is_image(), "an image");
  return {{in.sizes[0]}};
}
Shape output_of(const Flatten&, const Shape& in, const Place& place) {
  const double all = in.is_image() ? static_cast<double>(in.sizes[0]) * static_cast<double>(in.sizes[1]) *
                                         static_cast<double>(in.sizes[2])
                                   : 0;
  place.check(all > 0 && all <= kSizes.high, "an image of at most 2^24 numbers");
  return {{in.sizes[0] * in.sizes[1] * in.sizes[2]}};
}
Shape output_of(const Embedding& layer, const Shape& in, const Place& place) {
  place.check(in.tokens && in.sizes[0] > 0, "tokens of a bounded length");
  return {{in.sizes[0], layer.out}};
}
Shape output_of(const Lstm& layer, const Shape& in, const Place& place) {
  place.check(in.is_sequence(), "a sequence");
  return with_width(in, layer.out);
}
Shape output_of(const Attention& layer, const Shape& in, const Place& place) {
  if (!in.is_sequence() || in.width() % layer.heads != 0)
    place.refuse(fmt::format("a sequence whose width is a multiple of {} heads", layer.heads));
  return in;
}
Shape output_of(const MeanOverSteps&, const Shape& in, const Place& place) {
  place.check(in.is_sequence(), "a sequence");
  return {{in.width()}};
}
Shape output_of(const LastStep&, const Shape& in, const Place& place) {
  place.check(in.is_sequence(), "a sequence");
  return {{in.width()}};
}
Shape output_of(const Residual& layer, const Shape& in, const Place& place) {
  const Shape body = chained(layer.body, in, place.of), shortcut = chained(layer.shortcut, in, place.of);
  if (layer.body.empty() || body != shortcut)
    place.refuse(
        fmt::format("a body and a shortcut of one shape ({} and {})", text_of(body), text_of(shortcut)));
  return body;
}

/// Returns the options of one layer as JSON. Leaves out options of Scales that have their default, so that a
/// layer without special scales is stored as it was before Scales existed.
template <class Layer>
json options_of(const Layer& layer) {
  json options = options_to_json(layer);
  if constexpr (requires { layer.scales; }) {
    static const std::vector<OptionDoc> docs = option_docs<Scales>();
    for (const OptionDoc& doc : docs)
      if (options[doc.name] == doc.fallback) options.erase(doc.name);
  }
  return options;
}

json layers_to_json(const std::vector<LayerSpec>& layers) {
  json list = json::array();
  for (const LayerSpec& layer : layers) {
    list.push_back(std::visit(
        [](const auto& one) {
          json entry = options_of(one);
          entry["kind"] = one.kind;
          if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Residual>) {
            entry["body"] = layers_to_json(one.body);
            if (!one.shortcut.empty()) entry["shortcut"] = layers_to_json(one.shortcut);
          }
          return entry;
        },
        layer));
  }
  return list;
}

/// Reads a list of layers that lies inside `depth` residuals (0: the top level). `left` is the number of
/// layers that the network may still have; it is decreased by one per layer.
std::vector<LayerSpec> layers_from_json(const json& list, int depth, int& left);

template <class Layer>
LayerSpec read_layer(json entry, int depth, int& left) {
  entry.erase("kind");
  if constexpr (std::is_same_v<Layer, Residual>) {
    for (const auto& item : entry.items())
      if (item.key() != "body" && item.key() != "shortcut")
        refuse("a residual's body and shortcut alone", shown(item.key()));
    if (!entry.contains("body")) refuse("a residual with a 'body'", shown(entry));
    Residual layer{layers_from_json(entry["body"], depth + 1, left), {}};
    if (entry.contains("shortcut")) layer.shortcut = layers_from_json(entry["shortcut"], depth + 1, left);
    return layer;
  } else {
    return options_from_json<Layer>(entry, Layer::kind);
  }
}

/// Reads a layer whose "kind" is `kind`, by trying every alternative of the variant from the I-th on. Throws
/// std::invalid_argument for an unknown kind.
template <size_t I = 0>
LayerSpec layer_of_kind(const std::string& kind, const json& entry, int depth, int& left) {
  using Alternatives = LayerSpec::variant;
  if constexpr (I == std::variant_size_v<Alternatives>) {
    refuse("a layer of a known kind", shown(kind));
  } else {
    using Layer = std::variant_alternative_t<I, Alternatives>;
    if (kind == Layer::kind) return read_layer<Layer>(entry, depth, left);
    return layer_of_kind<I + 1>(kind, entry, depth, left);
  }
}

std::vector<LayerSpec> layers_from_json(const json& list, int depth, int& left) {
  if (!list.is_array()) refuse("a list of layers", shown(list));
  if (depth > kDeepest) refuse(fmt::format("at most {} nested residuals", kDeepest), shown(list));
  std::vector<LayerSpec> layers;
  for (const json& entry : list) {
    if (--left < 0) refuse(fmt::format("at most {} layers", kMostLayers), "more");
    if (!entry.is_object() || !entry.contains("kind") || !entry["kind"].is_string())
      refuse("a layer with a 'kind'", shown(entry));
    layers.push_back(layer_of_kind(entry["kind"].get<std::string>(), entry, depth, left));
  }
  return layers;
}

void add_lines(const std::vector<LayerSpec>& layers, Shape shape, std::vector<std::string>& lines) {
  for (const LayerSpec& layer : layers) {
    shape = output(layer, shape);
    const json options = std::visit([](const auto& one) { return options_of(one); }, layer);
    std::string line = kind_of(layer);
    for (const auto& item : options.items())
      line += fmt::format(" {} {}", item.key(),
                          item.value().is_string() ? item.value().get<std::string>() : item.value().dump());
    lines.push_back(fmt::format("{} -> {}", line, text_of(shape)));
  }
}

}  // namespace

std::string kind_of(const LayerSpec& layer) {
  return std::visit([](const auto& one) { return std::string(one.kind); }, layer);
}

Shape output(const LayerSpec& layer, const Shape& input, const std::string& place) {
  return std::visit(
      [&](const auto& one) {
        return output_of(one, input, Place{place, one.kind, input});
      },
      layer);
}

Shape output(const NetworkSpec& spec) { return chained(spec.layers, spec.input, ""); }

std::vector<std::string> lines_of(const NetworkSpec& spec) {
  std::vector<std::string> lines;
  add_lines(spec.layers, spec.input, lines);
  return lines;
}

nlohmann::json to_json(const NetworkSpec& spec) {
  return {{"input", to_json(spec.input)}, {"layers", layers_to_json(spec.layers)}};
}

NetworkSpec network_from_json(const nlohmann::json& json) {
  if (json.is_array())
    throw std::invalid_argument(
        "[network_from_json] expected a network with the shape of its rows; received a bare list of layers, "
        "as earlier "
        "versions wrote it");
  if (!json.is_object() || !json.contains("input") || !json.contains("layers"))
    refuse("a network with 'input' and 'layers'", shown(json));
  int left = kMostLayers;
  NetworkSpec spec{shape_from_json(json["input"]), layers_from_json(json["layers"], 0, left)};
  output(spec);  // throws if the layers do not fit each other
  return spec;
}

}  // namespace slimbayes
