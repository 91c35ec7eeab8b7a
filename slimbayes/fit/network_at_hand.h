#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/split/split.h"
#include "slimbayes/method/method.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

struct FitData;
struct ResolvedFit;

// Functions for a fit that takes the trained network of an earlier model (FitOptions::network_from) instead
// of training one. The parameter `network` is that model. Each function gives one stage of the fit what it
// takes from the model.

/// Reads and returns the model that FitOptions::network_from names; nullptr if it names none. Throws
/// DataError if the model cannot be read, and std::invalid_argument if its network has no linear output layer
/// or the method of `fit` cannot start from a trained network.
std::shared_ptr<const Model> network_asked(const FitOptions& fit);

/// Returns the options for a fit that takes the trained network of the model `network`: the options on
/// examples, columns, weights and split come from that model, the others from `given`.
/// with_network_from(given) in fit_model.h reads the model first. Throws std::invalid_argument if `given`
/// names another column of weights than that model.
FitOptions with_network_from(const FitOptions& given, const Model& network);

/// Returns `options` without those options of the network and its training that are not in `given`, the
/// options that the user set. `options` may contain values of a preset; these describe a network to train, so
/// they must not apply to one that is trained already.
nlohmann::json without_network_options(nlohmann::json options, const nlohmann::json& given);

/// Returns `options`, all options of the method, with the values that `network` was trained with for the
/// options of the network and its training. Training options that still have an effect in such a fit
/// (MethodInfo::trains_on) keep their values.
nlohmann::json options_around(const Model& network, const MethodInfo& method, nlohmann::json options);

/// Splits the examples for a fit that takes a trained network. If they are the examples that the network's
/// model was fitted on, returns that model's split, so that held-out rows stay unseen by the network.
/// Otherwise makes a new split with the options `dealt`. The split's notes report what is known of the
/// network's training. Throws std::invalid_argument as split_examples, and if calibration needs rows that the
/// network's model kept apart but there are none.
SplitRows split_around(const ResolvedFit& request, const FitData& data, const FitOptions& dealt);

/// The trained network that a method starts from, and what is known of its noise before the fit. The default
/// value stands for a fit that trains its own network.
struct NetworkStart {
  std::shared_ptr<const TrainedNetwork> network;  // nullptr: the method trains its own
  bool valid_unseen = true;                       // the network has not seen the fit's validation rows
  int64_t noise_rows = 0;                         // validation rows that the network's noise comes from
  NoiseEstimate noise = {};                       // cross-fitted for the network's model: a lower bound
};

/// Returns the network that the method starts from in this fit, which has `valid_rows` validation rows: that
/// of an earlier model, or the one given by a fit of several targets (ResolvedFit::given). Returns the
/// default value if the request has neither.
NetworkStart network_start(const ResolvedFit& request, const FitData& data, int64_t valid_rows);

}  // namespace slimbayes
