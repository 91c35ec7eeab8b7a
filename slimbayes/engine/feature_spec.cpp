#include "slimbayes/engine/feature_spec.h"

#include <fmt/format.h>

#include <cmath>

#include "slimbayes/storage/check.h"

namespace slimbayes::engine {

namespace {

/// The values of the plan's tensors in their order, as the pass reads them.
template <class Number>
std::shared_ptr<const Features> network_in(const Plan& plan, const FeatureSpec& spec) {
  std::vector<std::vector<Number>> wide;
  std::vector<const Number*> pointers;
  for (size_t i = 0; i < plan.tensors().size(); ++i) {
    const auto found = spec.values.find(plan.tensors()[i]);
    if (found == spec.values.end() || std::ssize(found->second) != plan.sizes()[i])
      refuse("features", fmt::format("{} values of {}", plan.sizes()[i], plan.tensors()[i]),
             found == spec.values.end() ? "none" : std::to_string(found->second.size()),
             "the model file is damaged");
    wide.emplace_back(found->second.begin(), found->second.end());
    pointers.push_back(wide.back().data());
  }
  return network_features(plan, std::span<const Number* const>(pointers), spec.of);
}

}  // namespace

std::shared_ptr<const Plan> feature_plan(const std::string& basis, int64_t rank, const NetworkSpec& spec) {
  auto plan = std::make_shared<Plan>(spec.input.numel());
  const bool known = basis.empty() || basis == "silu" || basis == "linear";
  if (!known || !plan->append(spec, "network").empty()) return nullptr;
  if (basis == "linear") {
    const double share = 1 / std::sqrt(static_cast<double>(rank));
    plan->append_dense("basis.weight", "basis.bias", rank, {share, share});
  }
  if (basis == "silu") {
    plan->append_dense("basis.weight", "basis.bias", rank);
    plan->append_activation(ActivationStep::Function::silu);
    plan->append_scale("basis.scale");
  }
  return plan;
}

std::shared_ptr<const Features> features_of(const FeatureSpec& spec) {
  if (!spec.network) return identity_features(spec.inputs);
  const std::shared_ptr<const Plan> plan = feature_plan(spec.basis, spec.rank, *spec.network);
  if (!plan || plan->inputs() != spec.inputs) return nullptr;
  return spec.exact ? network_in<double>(*plan, spec) : network_in<float>(*plan, spec);
}

}  // namespace slimbayes::engine
