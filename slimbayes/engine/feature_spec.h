#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/engine/features.h"

namespace slimbayes::engine {

/// The features of a row as data: how they follow from its inputs, with all parameters.
struct FeatureSpec {
  int64_t inputs = 0;                       // d
  std::optional<NetworkSpec> network = {};  // empty: the inputs are the features
  std::string basis = {};                   // the expansion behind the network: silu, linear, rbf, fourier
  int64_t rank = 0;                         // of the expansion, or the features of the sketch
  FeaturesOf of = FeaturesOf::outputs;      // of the network
  bool exact = false;                       // whether it is computed in float64
  std::map<std::string, std::vector<float>> values = {};  // the tensors that tensors_of() names, flat
};

/// The name and the number of elements of a tensor.
struct TensorSize {
  std::string name;
  int64_t elements;
};

/// Returns the plan of a network and an expansion to `rank` features, or nullptr if a plan cannot compute
/// them: it knows the layers that engine/plan.h has and the expansions `silu` and `linear`. With the basis ""
/// the plan is that of the network alone.
std::shared_ptr<const Plan> feature_plan(const std::string& basis, int64_t rank, const NetworkSpec& spec);

/// Returns the tensors that FeatureSpec::values holds; empty where the engine does not know the features.
/// `values` are ignored.
std::optional<std::vector<TensorSize>> tensors_of(const FeatureSpec& spec);

/// Returns whether the memory at hand holds the features of a damaged file, before r^2 numbers of memory and
/// r^3 operations go into the kernel of its inducing points, or the signs of its sketch are drawn. `root`:
/// the numbers of the head's root for them. Throws std::invalid_argument if there are no r^2 of them, or
/// fewer of a sketch.
bool fits_in_memory(const FeatureSpec& spec, int64_t root);

/// Returns the features; nullptr where the engine does not know them. Throws std::invalid_argument if the
/// values are not those of the plan: one is absent or has another size.
std::shared_ptr<const Features> features_of(const FeatureSpec& spec);

/// The same, and throws std::invalid_argument for a sketch: for who has not asked fits_in_memory() before.
std::shared_ptr<const Features> features_without_sketch(const FeatureSpec& spec);

}  // namespace slimbayes::engine
