// The networks that a user can choose, one row each, and the functions that make them.
#include "slimbayes/catalog/network/networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

using Layers = std::vector<LayerSpec>;

void add(Layers& layers, Layers more) {
  for (LayerSpec& layer : more) layers.push_back(std::move(layer));
}

Conv2d conv(int64_t out, int64_t kernel, int64_t stride) {
  return {out, kernel, stride, kernel / 2, /*bias=*/false};  // the following batch norm adds the bias
}

/// Returns a network for small images such as 28 x 28 pixels: two blocks, then a linear layer with ReLU. Each
/// block has two 3 x 3 convolutions, each with batch norm and ReLU, and a 2 x 2 max pooling.
NetworkSpec convnet(const NetworkOptions& o, const Shape& input, int64_t /*tokens*/) {
  NetworkSpec spec{input};
  for (int64_t width : {o.hidden / 2, o.hidden}) {
    const int64_t out = std::max<int64_t>(1, width);
    for (int i = 0; i < 2; ++i) add(spec.layers, {conv(out, 3, 1), BatchNorm{}, Activation{"relu"}});
    const Shape here = output(spec);
    if (here.sizes[1] >= 2 && here.sizes[2] >= 2) spec.layers.push_back(Pool2d{"max", 2});
  }
  add(spec.layers, {Flatten{}, Linear{2 * o.hidden}, Activation{"relu"}});
  if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  return spec;
}

/// Returns the ResNet-18 of He et al. 2016 in its form for small images such as CIFAR: the first layer is a 3
/// x 3 convolution without pooling. Four stages of two residual blocks follow, then the mean over the image.
/// From the second stage on, each stage halves the image's sides and doubles the channels.
NetworkSpec resnet18(const NetworkOptions& o, const Shape& input, int64_t /*tokens*/) {
  NetworkSpec spec{input, {conv(o.hidden, 3, 1), BatchNorm{}, Activation{"relu"}}};
  int64_t width = o.hidden;
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t out = o.hidden << stage;
    for (int block = 0; block < 2; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      Residual residual{{conv(out, 3, stride), BatchNorm{}, Activation{"relu"}, conv(out, 3, 1), BatchNorm{}},
                        {}};
      if (stride != 1 || width != out) residual.shortcut = {conv(out, 1, stride), BatchNorm{}};
      spec.layers.push_back(std::move(residual));
      spec.layers.push_back(Activation{"relu"});
      width = out;
    }
  }
  spec.layers.push_back(MeanOverImage{});
  if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  return spec;
}

NetworkSpec lstm(const NetworkOptions& o, const Shape& input, int64_t /*tokens*/) {
  NetworkSpec spec{input};
  for (int64_t i = 0; i < std::max<int64_t>(1, o.blocks); ++i) {
    if (i > 0 && o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
    spec.layers.push_back(Lstm{o.hidden, o.lstm_biases});
  }
  spec.layers.push_back(LastStep{});
  if (o.final_norm) spec.layers.push_back(LayerNorm{});
  if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  return spec;
}

/// Returns a pre-norm transformer (Xiong et al. 2020). `blocks` times, x is replaced by x +
/// Attention(LayerNorm x) and then by x + MLP(LayerNorm x); a LayerNorm (final_norm) and the mean over the
/// steps follow.
/// Text is embedded first; a sequence of vectors first passes a linear layer.
NetworkSpec transformer(const NetworkOptions& o, const Shape& input, int64_t tokens) {
  NetworkSpec spec{input};
  if (input.tokens)
    spec.layers.push_back(Embedding{tokens, o.hidden, o.positions});
  else if (o.positions)
    spec.layers.push_back(Linear{o.hidden});
  else
    throw std::invalid_argument(
        "[network] expected `.positions=false` with texts, whose words have positions; received windows; "
        "leave `.positions` out");
  const auto dropped = [&](Layers layers) {
    if (o.dropout > 0) layers.push_back(Dropout{o.dropout});
    return layers;
  };
  spec.layers = dropped(std::move(spec.layers));
  if (o.blocks > 0) check_heads(o.hidden, o.heads);
  const int64_t wide = o.feedforward > 0 ? o.feedforward : 4 * o.hidden;
  for (int64_t i = 0; i < o.blocks; ++i) {
    spec.layers.push_back(Residual{dropped({LayerNorm{}, Attention{o.heads}}), {}});
    spec.layers.push_back(
        Residual{dropped({LayerNorm{}, Linear{wide}, Activation{"gelu"}, Linear{o.hidden}}), {}});
  }
  if (o.final_norm) spec.layers.push_back(LayerNorm{});
  spec.layers.push_back(MeanOverSteps{});
  return spec;
}

/// Returns the mean of trained vectors of the words, which does not see their order.
NetworkSpec bag_of_words(const NetworkOptions& o, const Shape& input, int64_t tokens) {
  NetworkSpec spec{input, {Embedding{tokens, o.hidden, /*positions=*/false}}};
  if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  spec.layers.push_back(MeanOverSteps{});
  return spec;
}

/// Returns mlp() for the options. The pixels of an image count as a vector.
NetworkSpec plain_layers(const NetworkOptions& o, const Shape& input, int64_t /*tokens*/) {
  const Shape flat = input.is_image() ? output(Flatten{}, input) : input;
  NetworkSpec spec = mlp(flat.width(), o.hidden, o.blocks, o.activation, o.dropout, o.batch_norm);
  spec.input = input;
  if (input.is_image()) spec.layers.insert(spec.layers.begin(), Flatten{});
  return spec;
}

/// RealMLP trains at the rate 0.2 = 20 * 0.01, which suits its weights of size 1. The factor stands in the layers,
/// so that the rate itself, 0.01, suits what a method adds to the network, such as the head of `dbk`.
constexpr double kRealMlpRate = 20;

/// Returns the factors of a linear layer of RealMLP: the neural tangent parametrisation, W = w / sqrt(inputs)
/// with w, b ~ N(0, 1), and a tenth of the learning rate for b.
Scales tangent_scales(const Shape& input) {
  return {.weight = 1 / std::sqrt(static_cast<double>(input.width())),
          .weight_rate = kRealMlpRate,
          .bias_rate = 0.1 * kRealMlpRate,
          .start = 1};
}

/// Returns RealMLP for regression (Holzmueller, Grinsztajn and Steinwart 2024, "Better by default"): a smooth
/// clip of the inputs, the embedding of each by cosines, a trained factor for each feature with a large
/// learning rate, and layers with mish in the neural tangent parametrisation. Left out are its starts by the
/// data, its trained mixture of mish and the identity, and its dropout, which costs accuracy on targets
/// without noise (`dropout` sets it).
NetworkSpec realmlp(const NetworkOptions& o, const Shape& input, int64_t /*tokens*/) {
  NetworkSpec spec{
      input,
      {Activation{"smooth-clip"}, Periodic{.rate = 0.1 * kRealMlpRate}, Scale{.rate = 6 * kRealMlpRate}}};
  for (int64_t i = 0; i < o.blocks; ++i) {
    const Scales scales = tangent_scales(output(spec));
    add(spec.layers, {Linear{.out = o.hidden, .scales = scales}, Activation{"mish"}});
    if (o.dropout > 0) spec.layers.push_back(Dropout{o.dropout});
  }
  return spec;
}

/// Returns the names as text: "a", "a and b" or "a, b and c".
std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

InputKind kind_of(const Shape& shape, bool by_pixel) {
  if (shape.tokens) return InputKind::text;
  if (shape.is_image()) return by_pixel ? InputKind::segmentation : InputKind::images;
  return shape.is_sequence() ? InputKind::windows : InputKind::table;
}

NetworkInfo realmlp_info() {
  return {
      .name = "realmlp",
      .doc =
          "wide layers on cosines of each input, for tables whose target is nearly a function of the inputs; "
          "with defaults of its own (`.hidden=256`, `.blocks=3`, `.epochs=256`, `.schedule=cosine-log` and "
          "others of the training)",
      .inputs = {InputKind::table},
      .options = {"hidden", "blocks", "dropout"},
      .least_blocks = 1,
      .recipe = {{"hidden", 256},
                 {"blocks", 3},
                 {"epochs", 256},
                 {"batch", 256},
                 {"learning_rate", 0.01},
                 {"weight_decay", 0.02},
                 {"beta2", 0.95},
                 {"schedule", "cosine-log"},
                 {"patience", 0}},
      .make = realmlp};
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

NetworkSpec mlp(int64_t inputs, int64_t hidden, int64_t layers, const std::string& activation, double dropout,
                bool batch_norm) {
  if (layers < 1) throw std::invalid_argument("[mlp] expected at least one layer; received none");
  NetworkSpec spec{{{inputs}}};
  for (int64_t layer = 0; layer < layers; ++layer) {
    spec.layers.push_back(Linear{hidden});
    if (batch_norm) spec.layers.push_back(BatchNorm{});
    spec.layers.push_back(Activation{activation});
    if (dropout > 0) spec.layers.push_back(Dropout{dropout});
  }
  return spec;
}

std::span<const NetworkInfo> network_catalog() {
  using enum InputKind;
  using Options = const NetworkOptions&;
  using Input = const Shape&;
  static const std::vector<NetworkInfo> catalog = {
      {.name = "tabular_resnet",
       .doc = "residual blocks with layer norms, for tables",
       .inputs = {table},
       .options = {"activation", "hidden", "blocks", "dropout"},
       .make =
           [](Options o, Input input, int64_t) {
             return tabular_resnet(input.sizes[0], o.hidden, o.blocks, o.activation, o.dropout);
           }},
      {.name = "lstm",
       .doc = "recurrent layers, for windows",
       .inputs = {windows},
       .options = {"hidden", "blocks", "final_norm", "lstm_biases", "dropout"},
       .least_blocks = 1,
       .make = lstm},
      {.name = "convnet",
       .doc = "a few convolutions, for small grey images",
       .inputs = {images},
       .options = {"hidden", "dropout"},
       .parametrised = true,
       .make = convnet},
      {.name = "resnet18",
       .doc = "18 layers, for colour images",
       .inputs = {images},
       .options = {"hidden", "dropout"},
       .make = resnet18},
      {.name = "transformer",
       .doc = "self-attention, for text or windows",
       .inputs = {windows, text},
       .options = {"hidden", "blocks", "heads", "feedforward", "positions", "final_norm", "dropout"},
       .make = transformer},
      {.name = "bag_of_words",
       .doc = "the mean of the words' vectors, for text, where a few thousand short texts rarely need more",
       .inputs = {text},
       .options = {"hidden", "dropout"},
       .make = bag_of_words},
      {.name = "mlp",
       .doc = "plain layers, for tables, where they are rarely better, or for the pixels of small images",
       .inputs = {table, images},
       .options = {"activation", "hidden", "blocks", "batch_norm", "dropout"},
       .least_blocks = 1,
       .parametrised = true,
       .make = plain_layers},
      realmlp_info(),
      {.name = "fcn",
       .doc =
           "convolutions that halve the image and enlarge it again, with skip connections, for segmentation",
       .inputs = {segmentation},
       .options = {"hidden", "blocks", "dropout"},
       .make = [](Options o, Input input, int64_t) { return fcn(input, o.hidden, o.blocks, o.dropout); }}};
  return catalog;
}

Linear output_layer(const std::string& network, const Shape& features, int64_t outputs) {
  if (network == "realmlp") return {.out = outputs, .scales = tangent_scales(features)};
  return {.out = outputs};
}

nlohmann::json with_recipe(nlohmann::json given, const std::vector<OptionDoc>& known) {
  if (!given.is_object() || !given.contains("network") || !given["network"].is_string()) return given;
  const auto info =
      std::ranges::find(network_catalog(), given["network"].get<std::string>(), &NetworkInfo::name);
  if (info == network_catalog().end()) return given;
  const auto doc_of = [&](const std::string& name) {
    return std::ranges::find(known, name, &OptionDoc::name);
  };
  const auto schedule = doc_of("schedule");
  const bool trains =
      schedule != known.end() &&
      std::ranges::find(schedule->choices, info->recipe.value("schedule", "")) != schedule->choices.end();
  const bool in_steps = given.contains("steps");  // the same budget in another unit
  for (const auto& [name, value] : info->recipe.items()) {
    const bool of_network = uses_option(info->name, name);
    if (doc_of(name) != known.end() && (of_network || trains) && !given.contains(name) &&
        !(in_steps && name == "epochs"))
      given[name] = value;
  }
  return given;
}

const NetworkInfo& find_network(const std::string& network, InputKind kind) {
  std::vector<std::string> known;
  for (const NetworkInfo& info : network_catalog()) {
    const bool takes_kind = std::ranges::find(info.inputs, kind) != info.inputs.end();
    if (network == "auto" ? takes_kind : info.name == network) return info;
    known.push_back(info.name);
  }
  throw std::invalid_argument(fmt::format("[network] expected the name of a network; received '{}'; {}",
                                          foreign_text(network.substr(0, 80)), nearest_hint(network, known)));
}

std::vector<std::string> networks_for(InputKind kind) {
  std::vector<std::string> names;
  for (const NetworkInfo& info : network_catalog())
    if (std::ranges::find(info.inputs, kind) != info.inputs.end()) names.push_back(info.name);
  return names;
}

std::string network_name(const std::string& network, InputKind kind) {
  return network == "auto" ? find_network(network, kind).name : network;
}

bool uses_option(const std::string& network, const std::string& option) {
  const std::vector<std::string> names = networks_using(option);
  return option == "network" || std::ranges::find(names, network) != names.end();
}

std::vector<std::string> networks_using(const std::string& option) {
  std::vector<std::string> names;
  for (const NetworkInfo& info : network_catalog())
    if (std::ranges::find(info.options, option) != info.options.end()) names.push_back(info.name);
  return names;
}

std::string parametrised_networks() {
  std::vector<std::string> names;
  for (const NetworkInfo& info : network_catalog())
    if (info.parametrised) names.push_back(info.name);
  return names_text(names);
}

void check_heads(int64_t hidden, int64_t heads) {
  if (hidden % heads == 0) return;
  int64_t fits = std::min(heads, hidden);
  while (hidden % fits != 0) --fits;
  throw std::invalid_argument(
      fmt::format("[network] expected `.hidden` to be a multiple of `.heads`; received `.hidden={}` and "
                  "`.heads={}`; `.heads={}` divides it",
                  hidden, heads, fits));
}

NetworkSpec network_for(const NetworkOptions& options, const Shape& input, int64_t tokens, bool by_pixel) {
  const InputKind kind = kind_of(input, by_pixel);
  const std::vector<std::string> known = networks_for(kind);
  const std::string name = network_name(options.network, kind);
  if (std::ranges::find(known, name) == known.end())
    throw std::invalid_argument(
        fmt::format("[network] expected a network for {}; received '{}'; {} take{} it (`.network`)",
                    by_pixel ? std::string(name_of(kind)) : text_of(input), foreign_text(name),
                    fmt::join(known, " and "), known.size() == 1 ? "s" : ""));
  return find_network(name, kind).make(options, input, tokens);
}

namespace detail {

std::vector<std::string> network_choices() {
  std::vector<std::string> names = {"auto"};
  for (const NetworkInfo& info : network_catalog()) names.push_back(info.name);
  return names;
}

std::string network_help() {
  std::string text = "auto: the first of these that takes the kind of input";
  for (const NetworkInfo& info : network_catalog()) text += fmt::format(". {}: {}", info.name, info.doc);
  return text;
}

std::string users_text(const std::string& option) { return names_text(networks_using(option)); }

}  // namespace detail

}  // namespace slimbayes
