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

std::string factors_text(const json& tensors) {
  constexpr std::string_view kA = ".a.spread";
  std::string text;
  for (const auto& item : tensors.items()) {
    if (!item.key().ends_with(kA)) continue;
    const std::string name = item.key().substr(0, item.key().size() - kA.size());
    const json a = item.value(), b = tensors.value(name + ".b.spread", json());
    if (a.size() != 2 || b.size() != 2) continue;
    text += fmt::format("  {:<18} {} x {}, rank {}\n", shown(name), a[0].get<int64_t>(), b[0].get<int64_t>(),
                        a[1].get<int64_t>());
  }
  return text.empty() ? "" : "\nmatrices as products of factors\n" + text;
}

/// Returns how many numbers a tensor of this shape has.
int64_t numbers_in(const json& shape) {
  int64_t numbers = 1;
  for (const json& extent : shape) numbers *= extent.get<int64_t>();
  return numbers;
}

/// Returns how many numbers the tensors have whose names begin with `stem`.
int64_t numbers_of(const json& tensors, const std::string& stem) {
  int64_t sum = 0;
  for (const auto& item : tensors.items())
    if (item.key().starts_with(stem)) sum += numbers_in(item.value());
  return sum;
}

std::string size_line(const std::string& name, const std::string& sizes, int64_t dense, int64_t stored) {
  return fmt::format("  {:<22} {:<26} {:>11} {:>11} {:>11} {:>11} {:>6.1f} %\n", name, sizes, dense, stored,
                     kBytes * dense, kBytes * stored,
                     100 * static_cast<double>(stored) / static_cast<double>(dense));
}

/// Returns the flow of a layer with inducing weights: "none", "certified" or "paper". Only the certified one
/// has a scale that does not depend on the row.
std::string flow_of(const json& tensors, const std::string& site) {
  const std::string stem = site + ".flow.";
  bool any = false;
  for (const auto& item : tensors.items()) any = any || item.key().starts_with(stem);
  return !any ? "none" : tensors.contains(stem + "scale") ? "certified" : "paper";
}

std::string inducing_text(const json& layers) {
  if (layers.empty()) return "";
  std::string text = fmt::format("\nlayers with inducing weights\n  {:<22} {:<26} {:>23} {:>23}\n", "",
                                 "matrix, inducing matrix", "parameters: dense, here", "bytes: dense, here");
  int64_t dense = 0, stored = 0;
  for (const json& one : layers) {
    const auto number = [&](const char* key) { return one[key].get<int64_t>(); };
    text += size_line(
        shown(one["layer"].get<std::string>()),
        fmt::format("{} x {}, {} x {}", number("out"), number("in"), number("rows"), number("columns")),
        number("dense"), number("parameters"));
    dense += number("dense");
    stored += number("parameters");
  }
  text += size_line("together", "", dense, stored);
  if (std::ranges::any_of(layers, [](const json& one) { return one["flow"] == "paper"; }))
    text +=
        "  the paper's flow is uncertified: its Lipschitz constant has no bound (--flow certified has one of "
        "1)\n";
  return text;
}

}  // namespace

json inducing_layers(const json& facts) try {
  json layers = json::array();
  const json network = facts.value("network", json());
  const json& tensors = facts.at("tensors");
  if (!network.is_object()) return layers;
  for (const MapSite& site : map_sites(network_from_json(network), "network")) {
    const json u = tensors.value(site.name + ".inducing", json()),
               z = tensors.value(site.name + ".z_columns", json());
    if (u.size() != 2 || z.size() != 2) continue;
    const auto in = z[1].get<int64_t>();
    layers.push_back({{"layer", site.label},
                      {"out", site.out},
                      {"in", in},
                      {"rows", u[0]},
                      {"columns", u[1]},
                      {"dense", site.out * in},
                      {"parameters", numbers_of(tensors, site.name + ".")},
                      {"flow", flow_of(tensors, site.name)}});
  }
  return layers;
} catch (const std::exception&) {  // a damaged file; the commands that load it say what is wrong
  return json::array();
}

std::optional<int64_t> pass_cost(const json& facts) try {
  const json network = facts.value("network", json());
  if (!network.is_object()) return {};
  return multiply_adds(network_from_json(network));
} catch (const std::exception&) {  // as above
  return {};
}

json foreign_score_layers(const json& facts) try {
  json layers = json::array();
  const json network = facts.value("network", json());
  if (!network.is_object()) return layers;
  for (const MapSite& site : map_sites(network_from_json(network), "network"))
    if (const int64_t numbers = numbers_of(facts.at("tensors"), "ood." + site.name + "."); numbers > 0)
      layers.push_back({{"layer", site.label}, {"numbers", numbers}});
  return layers;
} catch (const std::exception&) {  // as above
  return json::array();
}

std::string layers_text(const json& facts) {
  std::string text = factors_text(facts.at("tensors")) + inducing_text(inducing_layers(facts));
  for (const json& one : foreign_score_layers(facts)) {
    const auto numbers = one["numbers"].get<int64_t>();
    text += fmt::format("  for the score of foreign rows at {}: {} numbers, {} bytes\n",
                        shown(one["layer"].get<std::string>()), numbers, kBytes * numbers);
  }
  return text;
}

}  // namespace slimbayes::cli
