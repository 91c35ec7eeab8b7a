#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/answers/metrics.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "tests/methods/contract.h"

namespace slimbayes {

inline const nlohmann::json kSmallNetwork = {
    {"network", "mlp"}, {"hidden", 12}, {"blocks", 2}, {"activation", "tanh"}, {"steps", 600}};

/// Returns the shared trained network of these tests.
inline std::shared_ptr<const TrainedNetwork> small_network(const Split& split) {
  return registry_row("dnn").make(kSmallNetwork)->fit(split, {Stream(5)})->network();
}

inline std::unique_ptr<Fitted> around(const std::string& method, nlohmann::json options, const Split& split,
                                      const std::shared_ptr<const TrainedNetwork>& network) {
  nlohmann::json all = kSmallNetwork;
  all.update(options);
  FitContext context{Stream(5)};
  context.start = network;
  return registry_row(method).make(all)->fit(split, context);
}

inline double rmse(const Fitted& fitted, const Dataset& data) {
  return root_mean_squared_error(contract::answer(fitted, data), data.all().target);
}

/// Gradients of the network's output in its parameters, in float64: [n, m] of the earlier layers and [n, r]
/// of the last one.
struct Jacobian {
  at::Tensor earlier, last;
};

inline Jacobian jacobian_of(const TrainedNetwork& trained, const at::Tensor& x) {
  const std::string output = fmt::format("network.{}.", trained.spec.layers.size() - 1);
  std::vector<at::Tensor> earlier, last;
  const BoundNetwork network(trained.spec, "network", [&](const std::string& name) {
    at::Tensor weight = trained.weights.at(name).to(at::kDouble).detach().clone().requires_grad_(true);
    (name.starts_with(output) ? last : earlier).push_back(weight);
    return weight;
  });
  std::vector<at::Tensor> all = earlier;
  all.insert(all.end(), last.begin(), last.end());
  std::vector<at::Tensor> rows, last_rows;
  for (int64_t i = 0; i < x.size(0); ++i) {
    const auto gradients = torch::autograd::grad({network(x.slice(0, i, i + 1).to(at::kDouble)).sum()}, all);
    std::vector<at::Tensor> first, second;
    for (size_t k = 0; k < gradients.size(); ++k)
      (k < earlier.size() ? first : second).push_back(gradients[k].flatten());
    rows.push_back(at::cat(first));
    last_rows.push_back(at::cat(second));
  }
  return {at::stack(rows), at::stack(last_rows)};
}

}  // namespace slimbayes
