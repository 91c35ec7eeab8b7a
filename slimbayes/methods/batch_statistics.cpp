#include "slimbayes/methods/batch_statistics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "slimbayes/method/batches.h"

namespace slimbayes {

namespace {

/// Returns the layers with batch norms whose running averages are the statistics of the last batch alone.
std::vector<LayerSpec> forgetful(std::vector<LayerSpec> layers) {
  for (LayerSpec& layer : layers) {
    if (auto* norm = std::get_if<BatchNorm2d>(&layer)) norm->momentum = 1;
    if (auto* residual = std::get_if<Residual>(&layer)) {
      residual->body = forgetful(std::move(residual->body));
      residual->shortcut = forgetful(std::move(residual->shortcut));
    }
  }
  return layers;
}

bool normalises(const std::vector<LayerSpec>& layers) {
  return std::ranges::any_of(layers, [](const LayerSpec& layer) {
    const auto* residual = std::get_if<Residual>(&layer);
    return std::holds_alternative<BatchNorm2d>(layer) ||
           (residual != nullptr && (normalises(residual->body) || normalises(residual->shortcut)));
  });
}

}  // namespace

bool has_batch_norms(const NetworkSpec& spec) { return normalises(spec.layers); }

Weights with_batch_statistics(const NetworkSpec& spec, const Weights& weights, const Dataset& rows,
                              const Stream& stream) {
  Weights out = weights;
  std::vector<std::pair<at::Tensor, at::Tensor>> averages;  // of the last batch, summed
  for (const ParameterSpec& one : network_parameters(spec, "network", "network", Stream(0))) {
    if (one.group != kBuffers) continue;
    at::Tensor& buffer = out.at(one.name);
    buffer = buffer.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
    averages.emplace_back(buffer, at::zeros_like(buffer, at::kDouble));
  }
  if (averages.empty()) return out;
  const Network network({spec.input, forgetful(spec.layers)}, "network", as_type(out, at::kFloat));
  double seen = 0;
  uint64_t number = 0;
  over_batches(rows, {}, [&](const Batch& batch) {
    const int64_t b = batch.inputs[0].size(0);
    const Stream own = stream.split(number++);
    if (b < 2 && seen > 0) return;
    network(input_of(batch), {/*training=*/true, own});
    for (const auto& [last, sum] : averages) sum.add_(last, static_cast<double>(b));
    seen += static_cast<double>(b);
  });
  for (const auto& [last, sum] : averages) last.copy_(sum / seen);
  return out;
}

}  // namespace slimbayes
