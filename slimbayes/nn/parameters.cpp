#include "slimbayes/nn/parameters.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns the parameters in memory order: the groups in the order in which they first appear in `specs`;
/// within a group, parameters with the same factors (rate and decay) side by side, again by first appearance.
std::vector<const ParameterSpec*> memory_order(const std::vector<ParameterSpec>& specs) {
  std::vector<std::string> groups;
  std::vector<std::tuple<std::string, double, double>> stretches;
  const auto place = [](auto& seen, const auto& key) {
    const auto found = std::ranges::find(seen, key);
    const auto number = found - seen.begin();
    if (found == seen.end()) seen.push_back(key);
    return number;
  };
  std::vector<std::tuple<int64_t, int64_t, const ParameterSpec*>> order;
  for (const ParameterSpec& spec : specs)
    order.emplace_back(place(groups, spec.group),
                       place(stretches, std::tuple(spec.group, spec.rate, spec.decay)), &spec);
  std::ranges::stable_sort(order, {},
                           [](const auto& x) { return std::pair(std::get<0>(x), std::get<1>(x)); });
  std::vector<const ParameterSpec*> sorted;
  for (const auto& entry : order) sorted.push_back(std::get<2>(entry));
  return sorted;
}

}  // namespace

Parameters::Parameters(const std::vector<ParameterSpec>& specs, const at::TensorOptions& options) {
  int64_t total = 0;
  for (const ParameterSpec& spec : specs) total += spec.start.numel();
  flat_ = at::empty({total}, options);
  grad_ = at::zeros({total}, options);
  int64_t offset = 0;
  for (const ParameterSpec* spec : memory_order(specs)) {
    internal_check(!views_.contains(spec->name), "Parameters", "repeated name", spec->name);
    const int64_t size = spec->start.numel();
    at::Tensor view = flat_.narrow(0, offset, size).view(spec->start.sizes());
    view.copy_(spec->start);
    if (spec->group != kBuffers) {
      view.set_requires_grad(true);
      view.mutable_grad() = grad_.narrow(0, offset, size).view(spec->start.sizes());
    }
    views_[spec->name] = view;
    names_.push_back(spec->name);
    groups_.try_emplace(spec->group, offset, 0).first->second.second += size;
    const auto continues = [&](const Stretch& x) {
      return x.group == spec->group && x.rate == spec->rate && x.decay == spec->decay;
    };
    if (stretches_.empty() || !continues(stretches_.back()))
      stretches_.push_back({spec->group, spec->rate, spec->decay, offset, 0});
    stretches_.back().size += size;
    offset += size;
  }
}

const at::Tensor& Parameters::operator[](const std::string& name) const {
  auto found = views_.find(name);
  internal_check(found != views_.end(), "Parameters", "no parameter", name);
  return found->second;
}

at::Tensor Parameters::values(const std::string& group) const {
  internal_check(has(group), "Parameters", "no group", group);
  auto [offset, size] = groups_.at(group);
  return flat_.narrow(0, offset, size);
}

at::Tensor Parameters::grads(const std::string& group) const {
  internal_check(has(group), "Parameters", "no group", group);
  auto [offset, size] = groups_.at(group);
  return grad_.narrow(0, offset, size);
}

std::vector<ParameterBlock> Parameters::blocks() const {
  std::vector<ParameterBlock> blocks;
  for (const Stretch& x : stretches_) {
    if (x.group == kBuffers) continue;
    blocks.push_back(
        {x.group, x.rate, x.decay, flat_.narrow(0, x.offset, x.size), grad_.narrow(0, x.offset, x.size)});
  }
  return blocks;
}

}  // namespace slimbayes
