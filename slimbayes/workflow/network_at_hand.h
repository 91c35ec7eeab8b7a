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

// A fit around the network of a fitted model (FitOptions::network_from). Each function gives one stage of the
// fit what that stage takes from the model instead of making it.

/// Reads the model that FitOptions::network_from names; nullptr if it names none. Throws DataError if it
/// cannot be read, std::invalid_argument if its network has no linear output layer or the method of `fit`
/// takes none.
std::shared_ptr<const Model> network_asked(const FitOptions& fit);

/// Returns with_network_from(given), where `network` is the model that was read.
FitOptions with_network_from(const FitOptions& given, const Model& network);

/// Returns the options without those of the network and its training that `given` lacks: a preset's do not
/// concern a network at hand.
nlohmann::json without_network_options(nlohmann::json options, const nlohmann::json& given);

/// Returns the method's options, all of them, with the values in the model's file for those of the network
/// and of its training, except those that act on the network still (MethodInfo::trains_on).
nlohmann::json options_around(const Model& network, const MethodInfo& method, nlohmann::json options);

/// Splits the examples for a fit around a network: as the network's fit did if these are its examples, else
/// anew. The notes say what is known of the network's training. `dealt` are the options of the split. Throws
/// std::invalid_argument as split_examples, and if examples of the network's fit are to calibrate and it kept
/// none for that.
SplitRows split_around(const ResolvedFit& request, const FitData& data, const FitOptions& dealt);

/// What the method starts from, and what is known of its noise before the fit.
struct NetworkStart {
  std::shared_ptr<const TrainedNetwork> network;  // FitContext::start; nullptr: the method trains its own
  bool valid_unseen = true;                       // FitContext::valid_unseen
  int64_t noise_rows = 0;                         // validation rows that gave the network's noise
  NoiseEstimate noise = {};                       // cross-fitted in the network's fit: a floor
};

/// Returns the start of a fit with `valid_rows` validation rows: without a network at hand, the default.
NetworkStart start_of(const ResolvedFit& request, const FitData& data, int64_t valid_rows);

}  // namespace slimbayes
