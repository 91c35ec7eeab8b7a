// Lists the tensors and the weight matrices of each kind of layer in catalog/network/layers.h. nn/layers.cpp
// computes with these tensors.
#include "slimbayes/catalog/network/layer_tensors.h"

#include <cmath>
#include <numbers>

#include "slimbayes/catalog/network/layer_labels.h"
#include "slimbayes/catalog/network/visit_layers.h"

namespace slimbayes {

namespace {

/// Collects the tensors of a network, and the places where matrices act, layer by layer.
struct Collector {
  std::vector<TensorShape> tensors;
  std::vector<MapSite> sites;
  std::string layer = {};  // name of the layer that is visited now

  void add(const std::string& name, std::vector<int64_t> sizes, const StartRule& start, double rate = 1) {
    tensors.push_back({layer + "." + name, layer, std::move(sizes), start, rate});
  }
  void add_buffer(const std::string& name, int64_t size, double value) {
    tensors.push_back(
        {layer + "." + name, layer, {size}, {StartRule::Kind::constant, value}, 1, /*buffer=*/true});
  }
  /// Adds the place of a matrix that is a whole tensor with the same name.
  void add_site(const std::string& name, int64_t out, int64_t in, MapUse use, const std::string& bias = "") {
    const std::string full = layer + "." + name;
    sites.push_back({full, layer, out, in, use, bias.empty() ? "" : layer + "." + bias, full});
  }
  /// Adds the place of a [width, width] matrix that is a part of the tensor "in_weight": its rows from
  /// `first` on.
  void add_part(const std::string& name, int64_t width, int64_t first) {
    sites.push_back({layer + "." + name, layer, width, width, MapUse::apply, layer + ".in_bias",
                     layer + ".in_weight", first});
  }
};

StartRule uniform(int64_t fan_in) {
  return {StartRule::Kind::uniform, 1 / std::sqrt(static_cast<double>(fan_in))};
}
StartRule constant(double value) { return {StartRule::Kind::constant, value}; }

/// Adds the tensors of a layer that has Scales (Linear, Conv2d): the weight, and the bias if there is one.
/// Their initial values and learning rates come from the Scales.
template <class Scaled>
void add_scaled(const Scaled& of, const std::vector<int64_t>& sizes, int64_t fan_in, MapUse use,
                Collector& to) {
  const StartRule start =
      of.scales.start > 0 ? StartRule{StartRule::Kind::normal, of.scales.start} : uniform(fan_in);
  to.add("weight", sizes, start, of.scales.weight_rate);
  if (of.bias) to.add("bias", {of.out}, start, of.scales.bias_rate);
  to.add_site("weight", of.out, fan_in, use, of.bias ? "bias" : "");
}

void collect(const Linear& layer, const Shape& in, Collector& to) {
  add_scaled(layer, {layer.out, in.width()}, in.width(), MapUse::apply, to);
}
void collect(const Scale& layer, const Shape& in, Collector& to) {
  to.add("weight", {in.width()}, constant(1), layer.rate);
}
void collect(const Periodic& layer, const Shape& in, Collector& to) {
  const int64_t d = in.width(), f = layer.frequencies, e = layer.out - 1;
  to.add("frequency", {d, f}, {StartRule::Kind::normal, layer.start}, layer.rate);
  to.add("phase", {d, f}, {StartRule::Kind::uniform, std::numbers::pi}, layer.rate);
  to.add("weight", {d, e, f}, uniform(f), layer.rate);
  to.add("bias", {d, e}, uniform(f), layer.rate);
}
void collect(const LayerNorm&, const Shape& in, Collector& to) {
  to.add("weight", {in.width()}, constant(1));
  to.add("bias", {in.width()}, constant(0));
}
void collect(const BatchNorm&, const Shape& in, Collector& to) {
  const int64_t c = in.sizes[0];
  to.add("weight", {c}, constant(1));
  to.add("bias", {c}, constant(0));
  to.add_buffer("running_mean", c, 0);
  to.add_buffer("running_var", c, 1);
}
void collect(const Conv2d& layer, const Shape& in, Collector& to) {
  const int64_t c = in.sizes[0], k = layer.kernel;
  add_scaled(layer, {layer.out, c, k, k}, c * k * k, MapUse::dense, to);
}
void collect(const Embedding& layer, const Shape& in, Collector& to) {
  const StartRule start{StartRule::Kind::normal, 1 / std::sqrt(static_cast<double>(layer.out))};
  to.add("weight", {layer.tokens, layer.out}, start);
  if (layer.positions) to.add("positions", {in.sizes[0], layer.out}, start);
  to.add_site("weight", layer.tokens, layer.out, MapUse::rows);
}
void collect(const Lstm& layer, const Shape& in, Collector& to) {
  const int64_t h = layer.out;
  to.add("weight_ih", {4 * h, in.width()}, uniform(h));
  to.add("weight_hh", {4 * h, h}, uniform(h));
  const bool two = layer.biases == "two";
  to.add("bias_ih", {4 * h}, two ? uniform(h) : StartRule{StartRule::Kind::forget_gate, 1});
  if (two) to.add("bias_hh", {4 * h}, uniform(h));
  to.add_site("weight_ih", 4 * h, in.width(), MapUse::dense, "bias_ih");
  to.add_site("weight_hh", 4 * h, h, MapUse::dense, two ? "bias_hh" : "");
}
void collect(const Attention&, const Shape& in, Collector& to) {
  const int64_t h = in.width();
  to.add("in_weight", {3 * h, h}, uniform(h));
  to.add("in_bias", {3 * h}, uniform(h));
  to.add("out_weight", {h, h}, uniform(h));
  to.add("out_bias", {h}, uniform(h));
  to.add_part("q", h, 0);
  to.add_part("k", h, h);
  to.add_part("v", h, 2 * h);
  to.add_site("out_weight", h, h, MapUse::apply, "out_bias");
}

// These layers have no tensors of their own. visit_layers() also visits the layers inside a residual, so
// Residual adds nothing here.
void collect(const Activation&, const Shape&, Collector&) {}
void collect(const Dropout&, const Shape&, Collector&) {}
void collect(const Pool2d&, const Shape&, Collector&) {}
void collect(const Upsample&, const Shape&, Collector&) {}
void collect(const MeanOverImage&, const Shape&, Collector&) {}
void collect(const Flatten&, const Shape&, Collector&) {}
void collect(const MeanOverSteps&, const Shape&, Collector&) {}
void collect(const LastStep&, const Shape&, Collector&) {}
void collect(const Residual&, const Shape&, Collector&) {}

Collector collected(const NetworkSpec& spec, const std::string& prefix) {
  Collector to;
  visit_layers(spec, prefix, [&](const LayerSpec& layer, const Shape& input, const std::string& name) {
    to.layer = name;
    std::visit([&](const auto& one) { collect(one, input, to); }, layer);
  });
  return to;
}

}  // namespace

double StartRule::variance() const {
  if (kind == Kind::constant || kind == Kind::forget_gate) return 0;
  return kind == Kind::normal ? value * value : value * value / 3;
}

std::vector<TensorShape> shapes_of(const NetworkSpec& spec, const std::string& prefix) {
  return collected(spec, prefix).tensors;
}

std::vector<MapSite> map_sites(const NetworkSpec& spec, const std::string& prefix) {
  std::vector<MapSite> sites = collected(spec, prefix).sites;
  const std::map<std::string, std::string> labels = layer_labels(spec, prefix);
  for (MapSite& site : sites) site.label = labels.at(site.layer);
  return sites;
}

}  // namespace slimbayes
