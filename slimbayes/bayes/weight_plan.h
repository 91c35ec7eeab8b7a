#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/bayes/prior.h"
#include "slimbayes/nn/binding.h"

namespace slimbayes {

/// Which distribution the values at one site of a network have.
struct SitePlan {
  std::string structure = "mean_field";  // bayes/structure.h
  std::string law = "gaussian";          // bayes/law.h
  Prior prior = NormalPrior{};
  double start_scale = 0.01;  // the law's scale at the start, for every random number
  int64_t rank = 0;           // for structures with factors; 0 for all others
};

/// Which weights of a network are random. The keys are names of sites: a matrix of map_sites(), or the tensor
/// of a vector (a bias, the scale of a norm). A weight without an entry is deterministic. The model file
/// stores the plan beside the network.
struct WeightPlan {
  std::map<std::string, SitePlan> sites;
};

/// Returns the plan in which every matrix and every bias of the network has the site plan `each`. The scales
/// and shifts of norms and the positions of tokens stay deterministic.
WeightPlan plan_for_all(const NetworkLayout& layout, const SitePlan& each);

nlohmann::json to_json(const WeightPlan& plan);
/// Throws std::invalid_argument for a member that is absent, of the wrong type or out of range. RandomWeights
/// checks whether the plan fits a network.
WeightPlan weight_plan_from_json(const nlohmann::json& json);

}  // namespace slimbayes
