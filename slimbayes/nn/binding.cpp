#include "slimbayes/nn/binding.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

template <class Entry>
size_t place_of(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  internal_check(found != entries.end(), "NetworkLayout", "no tensor or site", name);
  return static_cast<size_t>(found - entries.begin());
}

}  // namespace

NetworkLayout::NetworkLayout(const NetworkSpec& spec, const std::string& prefix)
    : prefix(prefix), tensors(shapes_of(spec, prefix)), sites(map_sites(spec, prefix)) {}

size_t NetworkLayout::tensor(const std::string& name) const { return place_of(tensors, name); }
size_t NetworkLayout::site(const std::string& name) const { return place_of(sites, name); }

Binding bound(const NetworkLayout& layout, const Binding::Lookup& lookup) {
  Binding binding;
  for (const TensorShape& one : layout.tensors) {
    binding.tensors.push_back(lookup(one.name));
    check_shape(binding.tensors.back(), one.sizes, "Network", one.name);
  }
  for (const MapSite& site : layout.sites) {
    const at::Tensor& tensor = binding.tensors[layout.tensor(site.tensor)];
    const bool whole = site.name == site.tensor;
    binding.maps.emplace_back(DenseMap{whole ? tensor : tensor.narrow(0, site.first, site.out)});
  }
  return binding;
}

Binding stacked(const std::vector<Binding>& draws) {
  Binding all;
  for (size_t i = 0; i < draws.front().tensors.size(); ++i) {
    std::vector<at::Tensor> own;
    for (const Binding& one : draws) own.push_back(one.tensors[i]);
    all.tensors.push_back(stacked(own));
  }
  for (size_t i = 0; i < draws.front().maps.size(); ++i) {
    std::vector<LinearMap> own;
    for (const Binding& one : draws) own.push_back(one.maps[i]);
    all.maps.push_back(stacked(own));
  }
  return all;
}

}  // namespace slimbayes
