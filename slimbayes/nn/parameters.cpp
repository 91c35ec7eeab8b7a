#include "slimbayes/nn/parameters.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

Parameters::Parameters(const std::vector<ParameterSpec>& specs, at::ScalarType type) {
  std::vector<std::string> groups;  // in order of first appearance
  int64_t total = 0;
  for (const ParameterSpec& spec : specs) {
    if (std::ranges::find(groups, spec.group) == groups.end()) groups.push_back(spec.group);
    total += spec.start.numel();
  }
  flat_ = at::empty({total}, at::TensorOptions().dtype(type));
  grad_ = at::zeros({total}, at::TensorOptions().dtype(type));
  int64_t offset = 0;
  for (const std::string& group : groups) {
    int64_t first = offset;
    for (const ParameterSpec& spec : specs) {
      if (spec.group != group) continue;
      internal_check(!views_.contains(spec.name), "Parameters", "repeated name " + spec.name);
      int64_t size = spec.start.numel();
      at::Tensor view = flat_.narrow(0, offset, size).view(spec.start.sizes());
      view.copy_(spec.start);
      if (spec.group != kBuffers) {
        view.set_requires_grad(true);
        view.mutable_grad() = grad_.narrow(0, offset, size).view(spec.start.sizes());
      }
      views_[spec.name] = view;
      names_.push_back(spec.name);
      offset += size;
    }
    groups_[group] = {first, offset - first};
  }
}

const at::Tensor& Parameters::operator[](const std::string& name) const {
  auto found = views_.find(name);
  internal_check(found != views_.end(), "Parameters", "no parameter " + name);
  return found->second;
}

at::Tensor Parameters::values(const std::string& group) const {
  internal_check(has(group), "Parameters", "no group " + group);
  auto [offset, size] = groups_.at(group);
  return flat_.narrow(0, offset, size);
}

at::Tensor Parameters::grads(const std::string& group) const {
  auto [offset, size] = groups_.at(group);
  return grad_.narrow(0, offset, size);
}

}  // namespace slimbayes
