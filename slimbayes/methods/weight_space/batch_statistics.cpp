#include "slimbayes/methods/weight_space/batch_statistics.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "slimbayes/catalog/network/layer_tensors.h"
#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/device.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/train/plan.h"

namespace slimbayes {

Weights with_batch_statistics(const NetworkSpec& spec, const Weights& weights, const Dataset& rows,
                              const Stream& stream) {
  const at::TensorOptions floats = at::dtype(at::kFloat).device(rows.device());
  Weights out = weights;
  std::vector<std::pair<at::Tensor, at::Tensor>> averages;  // of the last batch; weighted sum of all
  for (const TensorShape& one : shapes_of(spec, "network")) {
    if (!one.buffer) continue;
    at::Tensor& buffer = out.at(one.name);
    buffer = buffer.to(floats, /*non_blocking=*/false, /*copy=*/true);
    averages.emplace_back(buffer, at::zeros_like(buffer, at::kDouble));
  }
  if (averages.empty()) return out;
  NetworkSpec of_batch = spec;  // with momentum 1 a batch norm holds the last batch's statistics alone
  change_layers(of_batch.layers, [](LayerSpec& layer) {
    if (auto* norm = std::get_if<BatchNorm>(&layer)) norm->momentum = 1;
  });
  const BoundNetwork network(of_batch, "network", as_type(out, floats));
  double seen = 0;
  uint64_t number = 0;
  const at::Tensor of_rows = rows.weights();
  const Dataset drawn =
      of_rows.defined() ? rows.subset(plan_of_weights(of_rows, 1)(stream.split("weights"))[0]) : rows;
  over_batches(drawn, {}, [&](const Batch& batch) {
    const int64_t b = batch.inputs[0].size(0);
    const Stream own = stream.split(number++);
    if (b < 2 && seen > 0) return;
    network(input_of(batch), {/*training=*/true, own});
    for (const auto& [last, sum] : averages) sum.add_(last, static_cast<double>(b));
    seen += static_cast<double>(b);
  });
  for (const auto& [last, sum] : averages) last.copy_(sum / seen);
  for (const TensorShape& one : shapes_of(spec, "network"))
    if (one.buffer) out.at(one.name) = on_cpu(out.at(one.name));
  return out;
}

}  // namespace slimbayes
