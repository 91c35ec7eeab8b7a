#include "slimbayes/catalog/network/networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

namespace slimbayes {

namespace {

using Layers = std::vector<LayerSpec>;

void add(Layers& layers, Layers more) {
  for (LayerSpec& layer : more) layers.push_back(std::move(layer));
}

Conv2d conv(int64_t out, int64_t kernel, int64_t stride) {
  return {out, kernel, stride, kernel / 2, /*bias=*/false};  // the batch norm that follows has a bias
}

/// A network for small images such as 28 x 28 pixels: two blocks of conv, norm, relu, conv, norm, relu, pool
/// with 3 x 3 convolutions, then a linear layer.
NetworkSpec convnet(const NetworkOptions& o, const Shape& input) {
  NetworkSpec spec{input};
  for (int64_t width : {o.hidden / 2, o.hidden}) {
    const int64_t out = std::max<int64_t>(1, width);
    for (int i = 0; i < 2; ++i) add(spec.layers, {conv(out, 3, 1), BatchNorm2d{}, Activation{"relu"}});
    const Shape here = output(spec);
    if (here.sizes[1] >= 2 && here.sizes[2] >= 2) spec.layers.push_back(Pool2d{"max", 2});
  }
  add(spec.layers, {Flatten{}, Linear{2 * o.hidden}, Activation{"relu"}});
  if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  return spec;
}

/// The ResNet-18 of He et al. 2016 with a first layer for small images as in CIFAR: a 3 x 3 convolution
/// without pooling. Then four stages of two residual blocks and the mean over the image.
NetworkSpec resnet18(const NetworkOptions& o, const Shape& input) {
  NetworkSpec spec{input, {conv(o.hidden, 3, 1), BatchNorm2d{}, Activation{"relu"}}};
  int64_t width = o.hidden;
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t out = o.hidden << stage;
    for (int block = 0; block < 2; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      Residual residual{
          {conv(out, 3, stride), BatchNorm2d{}, Activation{"relu"}, conv(out, 3, 1), BatchNorm2d{}}, {}};
      if (stride != 1 || width != out) residual.shortcut = {conv(out, 1, stride), BatchNorm2d{}};
      spec.layers.push_back(std::move(residual));
      spec.layers.push_back(Activation{"relu"});
      width = out;
    }
  }
  spec.layers.push_back(MeanOverImage{});
  if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  return spec;
}

NetworkSpec lstm(const NetworkOptions& o, const Shape& input) {
  NetworkSpec spec{input};
  for (int64_t i = 0; i < std::max<int64_t>(1, o.blocks); ++i) {
    if (i > 0 && o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
    spec.layers.push_back(Lstm{o.hidden});
  }
  add(spec.layers, {LastStep{}, LayerNorm{}});
  if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  return spec;
}

/// A pre-norm transformer (Xiong et al. 2020): `blocks` times x + Attention(LayerNorm x) and x +
/// MLP(LayerNorm x), then a last LayerNorm and the mean over the steps.
NetworkSpec transformer(const NetworkOptions& o, const Shape& input, int64_t tokens) {
  NetworkSpec spec{input};
  if (input.tokens)
    spec.layers.push_back(Embedding{tokens, o.hidden});
  else
    spec.layers.push_back(Linear{o.hidden});
  const auto dropped = [&](Layers layers) {
    if (o.dropout > 0) layers.push_back(Dropout{o.dropout});
    return layers;
  };
  spec.layers = dropped(std::move(spec.layers));
  if (o.blocks > 0) check_heads(o.hidden, o.heads);
  for (int64_t i = 0; i < o.blocks; ++i) {
    spec.layers.push_back(Residual{dropped({LayerNorm{}, Attention{o.heads}}), {}});
    spec.layers.push_back(
        Residual{dropped({LayerNorm{}, Linear{4 * o.hidden}, Activation{"gelu"}, Linear{o.hidden}}), {}});
  }
  add(spec.layers, {LayerNorm{}, MeanOverSteps{}});
  return spec;
}

InputKind kind_of(const Shape& shape) {
  if (shape.tokens) return InputKind::text;
  if (shape.is_image()) return InputKind::images;
  return shape.is_sequence() ? InputKind::windows : InputKind::table;
}

}  // namespace

NetworkSpec tabular_resnet(int64_t inputs, int64_t hidden, int64_t blocks, const std::string& activation,
                           double dropout) {
  NetworkSpec spec{{{inputs}}, {Linear{hidden}}};
  Layers body = {LayerNorm{}, Linear{hidden}, Activation{activation}, Linear{hidden}};
  if (dropout > 0) body.push_back(Dropout{dropout});
  for (int64_t block = 0; block < blocks; ++block) spec.layers.push_back(Residual{body, {}});
  add(spec.layers, {LayerNorm{}, Activation{activation}});
  return spec;
}

NetworkSpec mlp(int64_t inputs, int64_t hidden, int64_t layers, const std::string& activation,
                double dropout) {
  if (layers < 1) throw std::invalid_argument("[mlp] expected at least one layer; received none");
  NetworkSpec spec{{{inputs}}};
  for (int64_t layer = 0; layer < layers; ++layer) {
    add(spec.layers, {Linear{hidden}, Activation{activation}});
    if (dropout > 0) spec.layers.push_back(Dropout{dropout});
  }
  return spec;
}

std::vector<std::string> networks_for(InputKind kind) {
  switch (kind) {
    case InputKind::table:
      return {"tabular_resnet", "mlp"};
    case InputKind::windows:
      return {"lstm", "transformer"};
    case InputKind::images:
      return {"convnet", "resnet18"};
    case InputKind::text:
      break;
  }
  return {"transformer"};
}

std::string network_name(const std::string& network, InputKind kind) {
  return network == "auto" ? networks_for(kind).front() : network;
}

bool uses_option(const std::string& network, const std::string& option) {
  const auto one_of = [](const std::string& word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (option == "activation") return one_of(network, {"tabular_resnet", "mlp"});
  if (option == "blocks") return one_of(network, {"tabular_resnet", "mlp", "lstm", "transformer"});
  if (option == "heads") return network == "transformer";
  return true;
}

std::vector<std::string> networks_using(const std::string& option) {
  std::vector<std::string> names;
  for (const char* name : {"tabular_resnet", "mlp", "lstm", "convnet", "resnet18", "transformer"}) {
    if (uses_option(name, option)) names.emplace_back(name);
  }
  return names;
}

void check_heads(int64_t hidden, int64_t heads) {
  if (hidden % heads == 0) return;
  int64_t fits = std::min(heads, hidden);
  while (hidden % fits != 0) --fits;
  throw std::invalid_argument(
      fmt::format("[network] expected --hidden to be a multiple of --heads; received --hidden {} and --heads "
                  "{}; --heads {} divides it",
                  hidden, heads, fits));
}

NetworkSpec network_for(const NetworkOptions& options, const Shape& input, int64_t tokens) {
  const std::vector<std::string> known = networks_for(kind_of(input));
  const std::string name = network_name(options.network, kind_of(input));
  if (std::ranges::find(known, name) == known.end())
    throw std::invalid_argument(
        fmt::format("[network] expected a network for {}; received '{}'; {} take it (--network)",
                    text_of(input), name, fmt::join(known, " and ")));
  if (name == "mlp")
    return mlp(input.sizes[0], options.hidden, options.blocks, options.activation, options.dropout);
  if (name == "lstm") return lstm(options, input);
  if (name == "convnet") return convnet(options, input);
  if (name == "resnet18") return resnet18(options, input);
  if (name == "transformer") return transformer(options, input, tokens);
  return tabular_resnet(input.sizes[0], options.hidden, options.blocks, options.activation, options.dropout);
}

}  // namespace slimbayes
