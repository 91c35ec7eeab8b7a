#include "slimbayes/engine/feature_spec.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <utility>

#include "slimbayes/engine/fourier_features.h"
#include "slimbayes/engine/gradient_sketch.h"
#include "slimbayes/engine/inducing_features.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes::engine {

namespace {

constexpr const char* kRbf = "rbf";          // basis/rbf.cpp
constexpr const char* kFourier = "fourier";  // basis/fourier.cpp
constexpr const char* kPoints = "basis.inducing_points";
constexpr const char* kLengthscale = "basis.log_lengthscale";
constexpr const char* kAmplitude = "basis.log_amplitude";
constexpr const char *kWeight = "basis.weight", *kBias = "basis.bias";

/// The plan of the part of the features that a plan computes: with inducing points and Fourier features the
/// network alone.
std::shared_ptr<const Plan> plan_of(const FeatureSpec& spec) {
  const bool apart = spec.basis == kRbf || spec.basis == kFourier;
  return feature_plan(apart ? "" : spec.basis, spec.rank, *spec.network);
}

std::vector<TensorSize> tensors_of(const Plan& plan, const FeatureSpec& spec) {
  std::vector<TensorSize> all;
  for (size_t i = 0; i < plan.tensors().size(); ++i) all.push_back({plan.tensors()[i], plan.sizes()[i]});
  if (spec.basis == kFourier) {
    all.push_back({kWeight, spec.rank * plan.outputs()});
    all.push_back({kBias, spec.rank});
    all.push_back({kAmplitude, 1});
  }
  if (spec.basis != kRbf) return all;
  all.push_back({kPoints, spec.rank * plan.outputs()});
  all.push_back({kLengthscale, plan.outputs()});
  all.push_back({kAmplitude, 1});
  return all;
}

/// Returns whether the expansion, if there is one, is of the network's outputs, whose number the sizes of its
/// values follow from.
bool is_sound(const FeatureSpec& spec) { return spec.basis.empty() || spec.of == FeaturesOf::outputs; }

/// The values of a plan's tensors in their order, as the pass reads them.
template <class Number>
std::shared_ptr<const Features> network_in(const Plan& plan, const FeatureSpec& spec) {
  std::vector<std::vector<Number>> wide;
  std::vector<const Number*> pointers;
  for (const std::string& name : plan.tensors()) {
    const std::vector<float>& given = spec.values.at(name);
    wide.emplace_back(given.begin(), given.end());
    pointers.push_back(wide.back().data());
  }
  if (spec.of != FeaturesOf::sketch)
    return network_features(plan, std::span<const Number* const>(pointers), spec.of);
  if constexpr (std::is_same_v<Number, float>)
    return has_sketch(plan) ? sketch_features(plan, std::span<const float* const>(pointers), spec.rank)
                            : nullptr;
  return nullptr;
}

void check_values(const std::vector<TensorSize>& tensors, const FeatureSpec& spec) {
  for (const auto& [name, elements] : tensors) {
    const auto found = spec.values.find(name);
    if (found == spec.values.end() || std::ssize(found->second) != elements)
      refuse("features", fmt::format("{} values of {}", elements, name),
             found == spec.values.end() ? "none" : std::to_string(found->second.size()),
             "the model file is damaged");
  }
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

std::optional<std::vector<TensorSize>> tensors_of(const FeatureSpec& spec) {
  if (!spec.network) return std::vector<TensorSize>{};
  const std::shared_ptr<const Plan> plan = plan_of(spec);
  if (!plan || plan->inputs() != spec.inputs || !is_sound(spec)) return {};
  if (spec.of == FeaturesOf::sketch && !has_sketch(*plan)) return {};
  return tensors_of(*plan, spec);
}

bool fits_in_memory(const FeatureSpec& spec, int64_t root) {
  if (spec.of == FeaturesOf::sketch)
    check(spec.rank > 0 && root / spec.rank >= spec.rank, "row_model",
          "a head for the features of the sketch", "another", "the model file is damaged");
  if (spec.basis != kRbf) return true;
  const int64_t r = spec.rank;
  check(r > 0 && root / r == r, "row_model", "a head for the inducing points of the features", "another",
        "the model file is damaged");
  const double needed = 6.0 * static_cast<double>(r) * static_cast<double>(r) * sizeof(double);
  return needed <= static_cast<double>(memory_at_hand());
}

std::shared_ptr<const Features> features_without_sketch(const FeatureSpec& spec) {
  check(spec.of != FeaturesOf::sketch, "features", "features without a sketch", "a sketch",
        "the model file is damaged");
  return features_of(spec);
}

std::shared_ptr<const Features> features_of(const FeatureSpec& spec) {
  if (!spec.network) return identity_features(spec.inputs);
  const std::shared_ptr<const Plan> plan = plan_of(spec);
  if (!plan || plan->inputs() != spec.inputs || !is_sound(spec)) return nullptr;
  check_values(tensors_of(*plan, spec), spec);
  std::shared_ptr<const Features> features;
  if (plan->steps().empty() && spec.of != FeaturesOf::sketch)
    features = identity_features(spec.inputs);
  else
    features = spec.exact ? network_in<double>(*plan, spec) : network_in<float>(*plan, spec);
  if (!features) return nullptr;
  if (spec.basis == kFourier)
    return fourier_features(std::move(features), {spec.values.at(kWeight), spec.values.at(kBias),
                                                  spec.values.at(kAmplitude).front()});
  if (spec.basis != kRbf) return features;
  return inducing_features(std::move(features), spec.rank,
                           {spec.values.at(kPoints).data(), spec.values.at(kLengthscale).data(),
                            spec.values.at(kAmplitude).data()});
}

}  // namespace slimbayes::engine
