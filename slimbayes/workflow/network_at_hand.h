#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/split.h"
#include "slimbayes/method/method.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

struct FitData;
struct ResolvedFit;

// Functions for a fit around the network of a fitted model (FitOptions::network_from). Each gives one stage
// of the fit what it takes from that model instead of making it.

/// Reads the model named by FitOptions::network_from; nullptr if none is named. Throws DataError if the model
/// cannot be read, and std::invalid_argument if its network has no linear output layer or the method of `fit`
/// does not take a network.
std::shared_ptr<const Model> network_asked(const FitOptions& fit);

/// Returns with_network_from(given) for a model `network` that has been read already.
FitOptions with_network_from(const FitOptions& given, const Model& network);

/// Removes the options of the network and its training that are not in `given`: a preset's values for them do
/// not apply to a network at hand.
nlohmann::json without_network_options(nlohmann::json options, const nlohmann::json& given);

/// Returns all options of the method. The options of the network and its training get the values from the
/// model's file, except those that still act on the network (MethodInfo::trains_on).
nlohmann::json options_around(const Model& network, const MethodInfo& method, nlohmann::json options);

/// Splits the examples for a fit around a network. If they are the examples of the network's fit, uses that
/// split, else makes a new one. The notes report what is known of the network's training. `dealt` are the
/// options of the split. Throws std::invalid_argument as split_examples, and if calibration needs rows that
/// the network's fit kept apart but there are none.
SplitRows split_around(const ResolvedFit& request, const FitData& data, const FitOptions& dealt);

/// The network that the method starts from, and what is known of its noise before the fit.
struct NetworkStart {
  std::shared_ptr<const TrainedNetwork> network;  // FitContext::start; nullptr: the method trains its own
  bool valid_unseen = true;                       // FitContext::valid_unseen
  int64_t noise_rows = 0;                         // validation rows behind the network's noise
  NoiseEstimate noise = {};                       // cross-fitted in the network's fit: a lower bound
};

/// Returns the start of a fit with `valid_rows` validation rows; the default value if there is no network at
/// hand.
NetworkStart start_of(const ResolvedFit& request, const FitData& data, int64_t valid_rows);

}  // namespace slimbayes
