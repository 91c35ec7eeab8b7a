#include "slimbayes/nn/weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

Weights snapshot(const Parameters& parameters) {
  Weights out;
  for (const std::string& name : parameters.names())
    out[name] = parameters[name].detach().to(at::kCPU, parameters[name].scalar_type(), false, /*copy=*/true);
  return out;
}

Weights weights_from(const TensorFile& file) {
  Weights out;
  for (const auto& [name, stored] : file.tensors) {
    out[name] = from_stored(stored);
    check_finite(out[name], "weights_from", name);
  }
  return out;
}

void store(const Weights& weights, TensorFile& file) {
  for (const auto& [name, value] : weights) file.tensors[name] = to_stored(value);
}

Weights dense_weights(const NetworkLayout& layout, const Binding& binding) {
  Weights out;
  for (size_t i = 0; i < layout.tensors.size(); ++i)
    if (binding.tensors[i].defined()) out[layout.tensors[i].name] = binding.tensors[i].clone();
  // A tensor may hold the matrices of several sites, one below the other: queries, keys and values.
  for (size_t i = 0; i < layout.sites.size(); ++i) {
    const MapSite& site = layout.sites[i];
    const std::vector<int64_t>& sizes = layout.tensors[layout.tensor(site.tensor)].sizes;
    const at::Tensor matrix = dense(binding.maps[i]).flatten(1);
    at::Tensor& whole = out[site.tensor];
    if (!whole.defined()) whole = at::zeros(sizes, matrix.options());
    whole.flatten(1).narrow(0, site.first, site.out).copy_(matrix);
  }
  return out;
}

Network::Lookup as_type(const Weights& weights, const at::TensorOptions& options) {
  return [&weights, options](const std::string& name) {
    auto found = weights.find(name);
    if (found == weights.end()) throw DataError("model file", fmt::format("holds no tensor '{}'", name));
    return found->second.to(options);
  };
}

}  // namespace slimbayes
