#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/bayes/prior.h"
#include "slimbayes/nn/binding.h"

namespace slimbayes {

/// How the values at one site of a network are random.
struct SitePlan {
  std::string structure = "mean_field";  // bayes/structure.h
  std::string law = "gaussian";          // bayes/law.h
  Prior prior = NormalPrior{};
  double start_scale = 0.01;  // of the law, of every random number at the start
  int64_t rank = 0;           // of a structure with factors; 0 for others
};

/// Which weights of a network are random. A site is a matrix of map_sites() or a vector (a bias, the scale of
/// a norm) by the name of its tensor. What the plan does not name is deterministic. The model file keeps the
/// plan beside the network.
struct WeightPlan {
  std::map<std::string, SitePlan> sites;
};

/// Returns the plan in which every matrix and every bias of the network is random in one way. Scales and shifts
/// of norms and positions of an embedding stay deterministic.
WeightPlan plan_for_all(const NetworkLayout& layout, const SitePlan& each);

nlohmann::json to_json(const WeightPlan& plan);
/// Throws std::invalid_argument for a member that is absent, of another type or out of range. Whether the plan
/// fits a network is checked by RandomWeights.
WeightPlan weight_plan_from_json(const nlohmann::json& json);

}  // namespace slimbayes
