#include "slimbayes/model/model_networks.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"

namespace slimbayes {

namespace {

constexpr const char* kStoredPlan = "weight_plan";

/// Returns the entries of a map whose keys begin with `prefix`, with the prefix removed.
template <class Map>
Map without_prefix(const Map& map, const std::string& prefix) {
  Map part;
  for (auto at = map.lower_bound(prefix); at != map.end() && at->first.starts_with(prefix); ++at)
    part.emplace(at->first.substr(prefix.size()), at->second);
  return part;
}

/// Adds the network in this file, if it has one with a matrix.
void add_network(const TensorFile& file, const Fitted& fitted, const std::string& name,
                 std::vector<ModelNetwork>& to) {
  if (!file.metadata.contains("network") || file.metadata.contains("module_layer")) return;
  ModelNetwork one{name, network_file(file), {}, false};
  if (map_sites(one.file.spec, "network").empty()) return;
  if (file.metadata.contains(kStoredPlan)) one.plan = weight_plan_from_json(stored_json(file, kStoredPlan));
  const bool network = fitted.network() != nullptr;
  one.answers = one.plan.has_value() || (network && fitted.network_use() != NetworkUse::corrected);
  one.averaged = network && fitted.network_use() == NetworkUse::averaged;
  to.push_back(std::move(one));
}

}  // namespace

std::vector<ModelNetwork> networks_of(const Model& model) {
  std::vector<ModelNetwork> all;
  const TensorFile file = model.fitted().save();
  add_network(file, model.fitted(), "", all);
  const MethodInfo& info = find_method(model.method());
  if (info.parts == SdParts::draws)
    for (ModelNetwork& one : all) one.averaged = true;
  if (info.inner.empty()) return all;
  const RegistryRow& row = registry_row(inner_method(info, model.options()).name);
  for (size_t i = 0;; ++i) {  // the prefix of a member is that of methods/weight_space/ensemble.cpp
    const std::string prefix = fmt::format("member.{}.", i);
    const TensorFile own{without_prefix(file.metadata, prefix), without_prefix(file.tensors, prefix)};
    if (own.metadata.empty()) return all;
    add_network(own, *row.load(own), fmt::format("member {}", i + 1), all);
    if (!all.empty()) all.back().averaged = true;
  }
}

std::vector<ModelNetwork> some_networks_of(const Model& model, const std::string& command) {
  std::vector<ModelNetwork> all = networks_of(model);
  if (all.empty())
    refuse(command, "a model with a network", model.method() + ", whose model has no matrix",
           "fit dnn, low-rank or another method with a network");
  return all;
}

Binding mean_weights(const ModelNetwork& network) {
  const NetworkLayout layout(network.file.spec, "network");
  const Network::Lookup lookup = as_type(network.file.weights, at::kDouble);
  if (!network.plan) return bound(layout, lookup);
  return RandomWeights(layout, *network.plan).bound(lookup).mean();
}

}  // namespace slimbayes
