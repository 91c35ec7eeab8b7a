#include "slimbayes/bayes/random_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

RandomSite random_site(const std::string& name, const MapSite* map, const TensorShape& tensor, bool bias) {
  const bool whole = map == nullptr || map->name == map->tensor;
  RandomSite site{.name = name,
                  .sizes = tensor.sizes,
                  .out = tensor.sizes[0],
                  .in = 1,
                  .matrix = map != nullptr,
                  .bias = bias,
                  .start_var = tensor.start.variance(),
                  .rate = tensor.rate};
  if (map != nullptr) {
    site.out = map->out;
    site.in = map->in;
    site.tokens = map->use == MapUse::rows;
    if (!whole) site.sizes = {map->out, map->in};
  }
  return site;
}

}  // namespace

RandomWeights::RandomWeights(NetworkLayout layout, WeightPlan plan)
    : layout_(std::make_shared<const NetworkLayout>(std::move(layout))), plan_(std::move(plan)) {
  const auto add = [&](const std::string& name, const MapSite* map, const TensorShape& tensor) {
    const auto planned = plan_.sites.find(name);
    if (planned == plan_.sites.end()) return;
    const TensorShape* bias = nullptr;
    if (map != nullptr && !map->bias.empty() && takes_bias(planned->second)) {
      bias = &layout_->tensors[layout_->tensor(map->bias)];
      if (bias->sizes[0] != map->out) bias = nullptr;  // several matrices share it: it stays deterministic
    }
    sites_.push_back({name, make_structure(random_site(name, map, tensor, bias != nullptr), planned->second),
                      map, &tensor, bias});
  };
  for (const TensorShape& tensor : layout_->tensors) {
    bool matrix = false;
    for (const MapSite& map : layout_->sites) {
      if (map.tensor != tensor.name) continue;
      matrix = true;
      add(map.name, &map, tensor);
    }
    if (!matrix && !tensor.buffer) add(tensor.name, nullptr, tensor);
  }
  for (const auto& [name, site] : plan_.sites) {
    if (std::ranges::find(sites_, name, &Site::name) == sites_.end())
      refuse("weight_plan", "sites of the network", fmt::format("'{}', which it lacks", name));
  }
  for (const MapSite& map : layout_->sites) {
    const auto parts = [&](const Site& site) {
      return site.map != nullptr && site.map->tensor == map.tensor;
    };
    const auto all = std::ranges::count(layout_->sites, map.tensor, &MapSite::tensor);
    const auto random = std::ranges::count_if(sites_, parts);
    if (random != 0 && random != all)
      refuse("weight_plan", fmt::format("all {} matrices of '{}' or none", all, map.tensor),
             fmt::format("{}", random));
  }
}

bool RandomWeights::fixed(const TensorShape& tensor) const {
  return std::ranges::none_of(
      sites_, [&](const Site& site) { return site.tensor == &tensor || site.bias == &tensor; });
}

std::vector<ParameterSpec> RandomWeights::parameters(const Stream& stream,
                                                     const Binding::Lookup& trained) const {
  std::vector<ParameterSpec> all;
  for (ParameterSpec& own : network_parameters(*layout_, "network", stream)) {
    const TensorShape& tensor = layout_->tensors[layout_->tensor(own.name)];
    if (trained) own.start = trained(own.name).to(at::kDouble);
    if (fixed(tensor)) {
      all.push_back(std::move(own));
      continue;
    }
    for (const Site& site : sites_) {
      if (site.tensor != &tensor) continue;
      const bool part = site.map != nullptr && site.map->name != tensor.name;
      const at::Tensor start = part ? own.start.narrow(0, site.map->first, site.map->out) : own.start;
      for (ParameterSpec& one : site.structure->parameters(start, stream.split("sites")))
        all.push_back(std::move(one));
    }
  }
  return all;
}

WeightPosterior RandomWeights::bound(const Binding::Lookup& lookup) const {
  const auto checked = [&](const std::string& name, const std::vector<int64_t>& sizes) {
    at::Tensor value = lookup(name);
    check_shape(value, sizes, "RandomWeights", name);
    return value;
  };
  WeightPosterior posterior;
  Binding& fixed_values = posterior.fixed_;
  for (const TensorShape& tensor : layout_->tensors)
    fixed_values.tensors.push_back(fixed(tensor) ? checked(tensor.name, tensor.sizes) : at::Tensor());
  for (const MapSite& map : layout_->sites) {
    const at::Tensor& tensor = fixed_values.tensors[layout_->tensor(map.tensor)];
    const bool part = tensor.defined() && map.name != map.tensor;
    fixed_values.maps.emplace_back(DenseMap{part ? tensor.narrow(0, map.first, map.out) : tensor});
  }
  for (const Site& site : sites_) {
    std::vector<at::Tensor> values;
    for (const auto& [name, sizes] : site.structure->shapes()) values.push_back(checked(name, sizes));
    const bool map = site.map != nullptr;
    for (const at::Tensor& value : values) posterior.numbers_ += value.numel();
    if (map && (site.map->use == MapUse::dense || site.structure->draws_matrix()))
      posterior.numbers_ += site.map->out * site.map->in;
    posterior.sites_.push_back({site.name,
                                site.structure,
                                std::move(values),
                                map,
                                map && site.map->use == MapUse::dense,
                                map && site.map->use == MapUse::rows,
                                map && (site.map->use == MapUse::apply || site.tensor->sizes.size() == 4),
                                map ? layout_->site(site.name) : layout_->tensor(site.name),
                                {}});
    if (site.bias != nullptr) posterior.sites_.back().bias = layout_->tensor(site.bias->name);
  }
  return posterior;
}

WeightDraw WeightPosterior::draw(const Stream& stream, const DrawContext& context) const {
  WeightDraw out{fixed_, {}};
  for (const Site& site : sites_) {
    SiteDraw& drawn = out.sites.emplace_back(site.structure->draw(
        site.parameters, stream, {site.tokens ? context.tokens : at::Tensor(), context.local && site.local}));
    if (!site.is_map)
      out.binding.tensors[site.place] = dense(drawn.map);
    else if (site.dense && !std::holds_alternative<LocalMap>(drawn.map))
      out.binding.maps[site.place] = DenseMap{dense(drawn.map)};
    else
      out.binding.maps[site.place] = drawn.map;
    if (site.bias) out.binding.tensors[*site.bias] = drawn.bias;
  }
  return out;
}

std::vector<std::string> WeightPosterior::names() const {
  std::vector<std::string> all;
  for (const Site& site : sites_) all.push_back(site.name);
  return all;
}

Binding WeightPosterior::mean() const {
  Binding out = fixed_;
  for (const Site& site : sites_) {
    const auto [map, bias] = site.structure->mean(site.parameters);
    if (!site.is_map)
      out.tensors[site.place] = dense(map);
    else
      out.maps[site.place] = site.dense ? LinearMap(DenseMap{dense(map)}) : map;
    if (site.bias) out.tensors[*site.bias] = bias;
  }
  return out;
}

std::vector<FactorPosterior> WeightPosterior::factors() const {
  std::vector<FactorPosterior> all;
  for (const Site& site : sites_) {
    for (FactorPosterior& one : site.structure->factors(site.parameters)) {
      one.site = site.name;
      all.push_back(std::move(one));
    }
  }
  return all;
}

at::Tensor WeightPosterior::kl(const WeightDraw& draw, const KlContext& context) const {
  at::Tensor sum;
  for (size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    const at::Tensor own =
        site.structure->kl(site.parameters, draw.sites[i], site.tokens ? context.row_weights : at::Tensor());
    sum = sum.defined() ? sum + own : own;
  }
  return sum;
}

double WeightPosterior::jitter() const {
  at::NoGradGuard no_grad;
  double most = 0;
  for (const Site& site : sites_) most = std::max(most, site.structure->jitter(site.parameters));
  return most;
}

void WeightPosterior::rows_to_prior(const at::Tensor& tokens) const {
  at::NoGradGuard no_grad;
  for (const Site& site : sites_)
    if (site.tokens) site.structure->rows_to_prior(site.parameters, tokens);
}

int64_t WeightPosterior::numbers_at_most() const { return numbers_; }

bool WeightPosterior::has_tokens() const {
  return std::ranges::any_of(sites_, [](const Site& site) { return site.tokens; });
}

at::Tensor tokens_of(const at::Tensor& x) {
  return x.scalar_type() == at::kLong ? std::get<0>(at::_unique(x)) : at::Tensor();
}

}  // namespace slimbayes
