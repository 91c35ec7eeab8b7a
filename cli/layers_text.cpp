#include "cli/layers_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.h"
#include "slimbayes/catalog/network/layer_tensors.h"
#include "slimbayes/catalog/network/multiply_adds.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

constexpr int kBytes = 4;  // of a parameter: the file holds them in float32

/// Returns the shape of a matrix; nullptr if there is no tensor of this name or it is no matrix.
const std::vector<int64_t>* matrix_at(const TensorShapes& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() || found->second.size() != 2 ? nullptr : &found->second;
}

std::string factors_text(const TensorShapes& tensors) {
  constexpr std::string_view kA = ".a.spread";
  std::string text;
  for (const auto& [tensor, shape] : tensors) {
    if (!tensor.ends_with(kA)) continue;
    const std::string name = tensor.substr(0, tensor.size() - kA.size());
    const auto *a = matrix_at(tensors, tensor), *b = matrix_at(tensors, name + ".b.spread");
    if (a == nullptr || b == nullptr) continue;
    text += fmt::format("  {:<18} {} x {}, rank {}\n", shown(name), (*a)[0], (*b)[0], (*a)[1]);
  }
  return text.empty() ? "" : "\nmatrices as products of factors\n" + text;
}

/// Returns how many numbers a tensor of this shape has.
int64_t numbers_in(const std::vector<int64_t>& shape) {
  int64_t numbers = 1;
  for (int64_t extent : shape) numbers *= extent;
  return numbers;
}

/// Returns how many numbers the tensors have whose names begin with `stem`.
int64_t numbers_of(const TensorShapes& tensors, const std::string& stem) {
  int64_t sum = 0;
  for (const auto& [name, shape] : tensors)
    if (name.starts_with(stem)) sum += numbers_in(shape);
  return sum;
}

std::string size_line(const std::string& name, const std::string& sizes, int64_t dense, int64_t stored) {
  return fmt::format("  {:<22} {:<26} {:>11} {:>11} {:>11} {:>11} {:>6.1f} %\n", name, sizes, dense, stored,
                     kBytes * dense, kBytes * stored,
                     100 * static_cast<double>(stored) / static_cast<double>(dense));
}

/// Returns the flow of a layer with inducing weights: "none", "certified", "paper" or "spectral". The last
/// two have the same tensors, so that `spectral` says which it is.
std::string flow_of(const TensorShapes& tensors, const std::string& site, bool spectral) {
  const std::string stem = site + ".flow.";
  bool any = false;
  for (const auto& [name, shape] : tensors) any = any || name.starts_with(stem);
  return !any ? "none" : tensors.contains(stem + "scale") ? "certified" : spectral ? "spectral" : "paper";
}

std::string inducing_text(const std::vector<InducingLayer>& layers) {
  if (layers.empty()) return "";
  std::string text = fmt::format("\nlayers with inducing weights\n  {:<22} {:<26} {:>23} {:>23}\n", "",
                                 "matrix, inducing matrix", "parameters: dense, here", "bytes: dense, here");
  int64_t dense = 0, stored = 0;
  for (const InducingLayer& one : layers) {
    text +=
        size_line(shown(one.layer), fmt::format("{} x {}, {} x {}", one.out, one.in, one.rows, one.columns),
                  one.dense, one.parameters);
    dense += one.dense;
    stored += one.parameters;
  }
  text += size_line("together", "", dense, stored);
  if (std::ranges::any_of(layers,
                          [](const auto& one) { return one.flow == "paper" || one.flow == "spectral"; }))
    text +=
        "  the paper's flow is uncertified: its Lipschitz constant has no bound (--flow certified has one of "
        "1)\n";
  return text;
}

}  // namespace

std::vector<InducingLayer> inducing_layers(const json& network, const TensorShapes& tensors,
                                           bool spectral) try {
  std::vector<InducingLayer> layers;
  if (!network.is_object()) return layers;
  for (const MapSite& site : map_sites(network_from_json(network), "network")) {
    const auto *u = matrix_at(tensors, site.name + ".inducing"),
               *z = matrix_at(tensors, site.name + ".z_columns");
    if (u == nullptr || z == nullptr) continue;
    const int64_t in = (*z)[1];
    layers.push_back({site.label, site.out, in, (*u)[0], (*u)[1], site.out * in,
                      numbers_of(tensors, site.name + "."), flow_of(tensors, site.name, spectral)});
  }
  return layers;
} catch (const std::exception&) {  // a damaged file; the commands that load it say what is wrong
  return {};
}

std::optional<int64_t> pass_cost(const json& network) try {
  if (!network.is_object()) return {};
  return multiply_adds(network_from_json(network));
} catch (const std::exception&) {  // as above
  return {};
}

std::vector<ForeignScoreLayer> foreign_score_layers(const json& network, const TensorShapes& tensors) try {
  std::vector<ForeignScoreLayer> layers;
  if (!network.is_object()) return layers;
  for (const MapSite& site : map_sites(network_from_json(network), "network"))
    if (const int64_t numbers = numbers_of(tensors, "ood." + site.name + "."); numbers > 0)
      layers.push_back({site.label, numbers});
  return layers;
} catch (const std::exception&) {  // as above
  return {};
}

std::string layers_text(const TensorShapes& tensors, const std::vector<InducingLayer>& layers,
                        const std::vector<ForeignScoreLayer>& foreign) {
  std::string text = factors_text(tensors) + inducing_text(layers);
  for (const ForeignScoreLayer& one : foreign)
    text += fmt::format("  for the score of foreign rows at {}: {} numbers, {} bytes\n", shown(one.layer),
                        one.numbers, kBytes * one.numbers);
  return text;
}

}  // namespace slimbayes::cli
