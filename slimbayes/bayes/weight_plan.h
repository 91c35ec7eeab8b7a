#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/bayes/prior.h"
#include "slimbayes/nn/binding.h"

namespace slimbayes {

/// How inducing weights stand at a site (make_inducing in structures.h). The defaults are those of FiD-GP.
struct InducingPlan {
  int64_t rows = 0, columns = 0;                 // M_out and M_in of U; 0 for other structures
  std::string conditional = "matheron";          // the noise of W given U: "matheron" or "reparam"
  std::string flow = "none";                     // "none", "certified", "paper" or "spectral" (row_flow.h)
  double start_noise = 1e-3, most_noise = 0.03;  // lambda: initial value, limit
  double start_sd = 1e-3, most_sd = 0.1;         // sd of the whitened U: initial value, limit
  double start_diagonal = 1e-3;                  // initial D
  bool noisy_z = false;  // whether each row of Z varies from draw to draw, with a trained sd
};

/// The distribution of the values at one site of a network, that is of a matrix or a vector.
struct SitePlan {
  std::string structure = "mean_field";  // a name of make_structure() (structure.h)
  std::string law = "gaussian";          // "gaussian" or "laplace" (law.h)
  Prior prior = NormalPrior{};
  double start_scale = 0.01;  // initial scale of every random number
  /// Above 0: the initial scale of a factor is this share of the root mean square of its initial locations,
  /// in place of start_scale.
  double start_ratio = 0;
  std::string start = "random";  // how low_rank starts: "random", or "svd" of the tensor's initial values
  double damping = 1;            // multiplies the initial locations of low_rank that start at random
  int64_t rank = 0;              // rank r of low_rank; 0 for others
  InducingPlan inducing = {};    // of the structure inducing
};

/// Which weights of a network are random. The keys are names of sites: a matrix of map_sites(), or the tensor
/// of a vector (a bias, the scale of a norm). A weight without an entry is deterministic. The model file
/// stores the plan beside the network.
struct WeightPlan {
  std::map<std::string, SitePlan> sites;
};

/// Returns the plan in which every matrix and every bias of the network has the site plan `each`; a bias that
/// the structure makes with its matrix (takes_bias) has none of its own. The scales
/// and shifts of norms and the positions of tokens stay deterministic.
WeightPlan plan_for_all(const NetworkLayout& layout, const SitePlan& each);

nlohmann::json to_json(const WeightPlan& plan);
/// Reads a plan from JSON. Throws std::invalid_argument for a member that is absent, of the wrong type or out
/// of range. Whether the plan fits a network is checked by RandomWeights.
WeightPlan weight_plan_from_json(const nlohmann::json& json);

}  // namespace slimbayes
