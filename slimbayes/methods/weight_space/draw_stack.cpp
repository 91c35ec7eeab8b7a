#include "slimbayes/methods/weight_space/draw_stack.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "slimbayes/catalog/network/visit_layers.h"

namespace slimbayes {

namespace {

constexpr int64_t kMostKept = int64_t{1} << 25;  // numbers of all draws that are kept: 128 MB in float32
constexpr int64_t kAtOnce = 64;                  // draws of one pass: bounds its activations

/// Returns the draws from `first` to `last` - 1, at most kAtOnce, as one binding.
Binding drawn(const WeightPosterior& weights, int64_t first, int64_t last) {
  at::NoGradGuard no_grad;
  std::vector<Binding> all;
  for (int64_t s = first; s < std::min(first + kAtOnce, last); ++s)
    all.push_back(weights.draw(draw_stream(s)).binding);
  return stacked(all);
}

}  // namespace

struct DrawStack::Kept {
  std::once_flag once;
  std::vector<Binding> parts;  // the draws in parts of kAtOnce
};

Stream draw_stream(int64_t s) { return Stream(0).split("draw").split(static_cast<uint64_t>(s)); }

bool can_stack(const NetworkSpec& spec, const NetworkLayout& layout, const WeightPlan& plan,
               const WeightPosterior& weights, int64_t draws) {
  const auto is_random = [&](const MapSite& site) { return plan.sites.contains(site.name); };
  bool can = weights.numbers_at_most() <= kMostKept / draws && std::ranges::all_of(layout.sites, is_random);
  visit_layers(spec, "network", [&](const LayerSpec& layer, const Shape&, const std::string&) {
    can = can && !std::holds_alternative<Conv2d>(layer);
  });
  const auto fits = [&](const MapSite& site, const std::string& name) {
    return site.name == name || site.bias == name;
  };
  return can && std::ranges::all_of(plan.sites, [&](const auto& planned) {
           return std::ranges::any_of(layout.sites,
                                      [&](const MapSite& site) { return fits(site, planned.first); });
         });
}

DrawStack::DrawStack(const Network& network, const WeightPosterior& weights, int64_t draws)
    : network_(network), weights_(weights), draws_(draws), kept_(std::make_unique<Kept>()) {}

DrawStack::~DrawStack() = default;

at::Tensor DrawStack::operator()(const Input& rows) const {
  std::call_once(kept_->once, [&] {
    std::vector<Binding> parts;
    for (int64_t s = 0; s < draws_; s += kAtOnce) parts.push_back(drawn(weights_, s, draws_));
    kept_->parts = std::move(parts);
  });
  std::vector<at::Tensor> outputs;
  for (const Binding& part : kept_->parts) outputs.push_back(network_(rows, part));
  return at::cat(outputs);
}

}  // namespace slimbayes
