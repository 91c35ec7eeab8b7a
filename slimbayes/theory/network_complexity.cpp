#include "slimbayes/theory/network_complexity.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/singular_values.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/theory/lipschitz.h"

namespace slimbayes {

namespace {

constexpr double kMostDraws = 200, kLeastDraws = 8;
constexpr double kDrawsWork = 5e9;  // h d min(h, d) times the draws

/// Returns the name of the first layer that the value does not cover; "" if there is none.
std::string uncovered(const NetworkSpec& spec) {
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerSpec& layer = spec.layers[i];
    if (!std::holds_alternative<Linear>(layer) && !std::holds_alternative<Activation>(layer) &&
        !std::holds_alternative<Dropout>(layer) && !std::holds_alternative<Flatten>(layer))
      return fmt::format("network.{} ({})", i, kind_of(layer));
  }
  return "";
}

/// Returns the matrices of the chain, each with its multiplier.
std::vector<ComplexityLayer> matrices_of(const ModelNetwork& network) {
  const NetworkLayout layout(network.file.spec, "network");
  const Binding weights = mean_weights(network);
  std::vector<ComplexityLayer> all;
  for (const LayerSpec& layer : network.file.spec.layers) {
    const auto* linear = std::get_if<Linear>(&layer);
    if (linear == nullptr) continue;
    const MapSite& site = layout.sites[all.size()];
    const at::Tensor s = singular_values(dense(weights.maps[all.size()])) * std::abs(linear->scales.weight);
    int64_t rank = std::min(site.out, site.in);
    if (network.plan) {
      const auto planned = network.plan->sites.find(site.name);
      if (planned != network.plan->sites.end() && planned->second.rank > 0)
        rank = std::min(rank, planned->second.rank);
    }
    all.push_back({site.out, rank, spectral_tail(s, 0), frobenius_tail(s, 0)});
  }
  return all;
}

/// Multiplies the norms of each matrix by the Lipschitz constants of the activations up to the next matrix.
std::vector<ComplexityLayer> with_activations(std::vector<ComplexityLayer> layers, const NetworkSpec& spec) {
  size_t next = 0;
  for (const LayerSpec& layer : spec.layers) {
    if (std::holds_alternative<Linear>(layer)) ++next;
    const auto* activation = std::get_if<Activation>(&layer);
    if (activation == nullptr || next == 0) continue;
    const double constant = activation_constant(activation->function);
    layers[next - 1].spectral *= constant;
    layers[next - 1].frobenius *= constant;
  }
  return layers;
}

}  // namespace

int64_t complexity_draws(int64_t out, int64_t in) {
  const auto h = static_cast<double>(out), d = static_cast<double>(in);
  return static_cast<int64_t>(
      std::clamp(std::floor(kDrawsWork / (h * d * std::min(h, d))), kLeastDraws, kMostDraws));
}

NetworkComplexity complexity_of(const ModelNetwork& network, const Dataset& rows, double c0) {
  check_options(RankOptions{.c0 = c0}, "bounds");
  const at::NoGradGuard no_grad;
  NetworkComplexity out;
  out.unknown = uncovered(network.file.spec);
  if (!out.unknown.empty()) return out;
  const std::vector<ComplexityLayer> matrices = matrices_of(network);
  const bool image = network.file.spec.input.is_image();
  at::Tensor gram;
  over_batches(rows, {}, [&](const Batch& batch) {
    const at::Tensor given = batch.inputs.at(0).to(at::kDouble);
    const at::Tensor x = image ? given.flatten(1) : given.flatten(0, -2);  // a row for each vector
    const at::Tensor own = x.t().mm(x);
    gram = gram.defined() ? gram + own : own;
  });
  out.layers = with_activations(matrices, network.file.spec);
  out.input_norm = std::sqrt(gram.trace().item<double>());
  out.value = complexity_value(out.layers, out.input_norm, rows.size(), c0);
  out.draws = complexity_draws(matrices.front().out, gram.size(0));
  out.first =
      one_layer_complexity(gram, rows.size(), matrices.front(), Stream(0).split("complexity"), out.draws);
  return out;
}

}  // namespace slimbayes
